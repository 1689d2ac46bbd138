//! Stream as tasks: the loops of [`stream`](super::stream) with awaiting instead of blocking, on an executor with as
//! many threads as the machine has cores.

use std::marker::PhantomData;

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::{Executors, give_way};
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};

use super::crew::{Done, Tasks, executor};
use super::payload::{Payload, SENTINEL, stamp};
use super::stream::{
    Params, Proof, Remaining, Report, Reports, Watches, Window, halves, judge, settle,
};
use super::watch::Watch;
use super::{overfull, refused};
use crate::scenario::cores;

/// A producing task.
async fn produce<C: Async, P: Payload, W: Watch>(
    mut tx: C::Tx<P>,
    producer: u64,
    mut watch: W,
    remaining: Remaining,
    consumers: usize,
) -> Result<Done<W>, StageError> {
    let mut next = stamp(producer, 0);
    loop {
        for _ in 0..watch.chunk() {
            let put = C::put_async(&mut tx, P::new(next)).await;
            put.map_err(|_| refused("a put on an open channel"))?;
            watch.has_put(next);
            next += 1;
        }
        if watch.lap().is_break() {
            break;
        }
        while watch.is_far_ahead() {
            give_way().await;
        }
    }
    if remaining.ends() {
        for _ in 0..consumers {
            let put = C::put_async(&mut tx, P::new(SENTINEL)).await;
            put.map_err(|_| refused("a put on an open channel"))?;
        }
    }
    Ok(Done::keeping(tx, watch))
}

/// A consuming task, until its sentinel.
pub(super) async fn consume<C: Async, P: Payload, W: Watch>(
    mut rx: C::Rx<P>,
    mut watch: W,
) -> Result<Done<W>, StageError> {
    while watch.holds_back() {
        give_way().await;
    }
    loop {
        for turn in 0..watch.chunk() {
            watch.will_take();
            let taken = C::take_async(&mut rx).await;
            let stamp = taken
                .map_err(|_| refused("a take from an open channel"))?
                .stamp();
            if stamp == SENTINEL {
                watch.ends(turn);
                return Ok(Done::keeping(rx, watch));
            }
            watch.has_taken(stamp);
        }
        // Producers decide when the window ends.
        let _ = watch.lap();
    }
}

fn run<C: Async, P: Payload, E: Executors, W: Watches>(
    executor: &E,
    params: &Params,
    watches: &W,
) -> Result<Reports<W>, StageError> {
    let (txs, rxs) = halves::<C, P>(params)?;
    let remaining = Remaining::new(txs.len());
    let consumers = rxs.len();
    let mut tasks = Tasks::on(executor, txs.len() + rxs.len(), watches.edges());
    for rx in rxs {
        let watch = watches.consumer();
        tasks.spawn(async move {
            consume::<C, P, _>(rx, watch)
                .await
                .map(|done| done.map(Report::Consumer))
        });
    }
    for (producer, tx) in (0_u64..).zip(txs) {
        let (watch, remaining) = (watches.producer(), remaining.clone());
        tasks.spawn(async move {
            let done = produce::<C, P, _>(tx, producer, watch, remaining, consumers).await;
            done.map(|done| done.map(Report::Producer))
        });
    }
    tasks.join()
}

/// An implementation about to run an async stream of messages `P`.
struct Stream<C, P, E> {
    params: Params,
    executor: E,
    family: PhantomData<fn(C, P)>,
}

impl<C: Async, P: Payload, E: Executors> Stage for Stream<C, P, E> {
    fn prove(&mut self) -> Result<(), StageError> {
        overfull::<C>(self.params.buffer.buffer())?;
        let proof = Proof::new(self.params.producers.count(), self.params.buffer.capacity());
        let reports = run::<C, P, E, _>(&self.executor, &self.params, &proof)?;
        judge(&proof, reports)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let window = Window::new(&spec, self.params.buffer, self.params.consumers.count());
        let reports = run::<C, P, E, _>(&self.executor, &self.params, &window)?;
        settle::<P>(&window, reports)
    }
}

/// A stage for that message.
///
/// # Errors
/// Where its threads should have a core each, and cannot be pinned.
pub fn stage<C: Async, P: Payload, E: Executors>(
    params: Params,
) -> Result<Box<dyn Stage>, StageError> {
    Ok(Box::new(Stream::<C, P, E> {
        params,
        executor: executor(cores())?,
        family: PhantomData,
    }))
}
