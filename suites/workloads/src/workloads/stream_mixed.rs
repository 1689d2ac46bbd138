//! Stream between threads and tasks. The producers of [`stream`](super::stream) block threads. The consumers of
//! [`stream_async`](super::stream_async) are tasks on an executor with as many threads as the machine has cores.

use std::marker::PhantomData;

use flowmeter_harness::channel::{Async, Blocking};
use flowmeter_harness::executor::Executors;
use flowmeter_measure::pin;
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::FailureKind;

use super::crew::{Tasks, executor};
use super::overfull;
use super::payload::Payload;
use super::stream::{
    Params, Proof, Remaining, Report, Reports, Watches, Window, halves, judge, produce, settle,
};
use super::stream_async::consume;
use crate::scenario::cores;

fn run<C: Blocking + Async, P: Payload, E: Executors, W: Watches>(
    executor: &E,
    params: &Params,
    watches: &W,
) -> Result<Reports<W>, StageError> {
    let (txs, rxs) = halves::<C, P>(params)?;
    let remaining = Remaining::new(txs.len());
    let consumers = rxs.len();
    let mut crew = Tasks::on(executor, txs.len() + rxs.len(), watches.edges());
    for (producer, tx) in (0_u64..).zip(txs) {
        let (watch, remaining) = (watches.producer(), remaining.clone());
        crew.spawn_thread(Box::new(move || {
            produce::<C, P, _>(tx, producer, watch, &remaining, consumers)
                .map(|done| done.map(Report::Producer))
        }))?;
    }
    for rx in rxs {
        let watch = watches.consumer();
        crew.spawn(async move {
            consume::<C, P, _>(rx, watch)
                .await
                .map(|done| done.map(Report::Consumer))
        });
    }
    crew.join()
}

/// An implementation about to run a stream of messages `P` from threads to tasks.
struct Stream<C, P, E> {
    params: Params,
    executor: E,
    family: PhantomData<fn(C, P)>,
}

impl<C: Blocking + Async, P: Payload, E: Executors> Stage for Stream<C, P, E> {
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
/// [`FailureKind::Void`] where its threads should have a core each: the executor's threads come on top.
pub fn stage<C: Blocking + Async, P: Payload, E: Executors>(
    params: Params,
) -> Result<Box<dyn Stage>, StageError> {
    if pin::of_process().is_by_thread() {
        return Err(StageError {
            kind: FailureKind::Void,
            message: "threads and the executor's threads cannot have a core each".to_owned(),
        });
    }
    Ok(Box::new(Stream::<C, P, E> {
        params,
        executor: executor(cores())?,
        family: PhantomData,
    }))
}
