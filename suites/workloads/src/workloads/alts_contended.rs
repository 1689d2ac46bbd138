//! Contended alts: producers feed a channel each, and one consumer waits on all channels at once.

use std::marker::PhantomData;
use std::thread;

use flowmeter_harness::channel::{Alts, Chosen, Clause, Order, Patience};
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::crew::{self, Done, Job};
use super::ledger::miscounted;
use super::payload::{SENTINEL, stamp};
use super::stream::{Proof, Report, Reports, Watches, Window, judge, settle};
use super::watch::Watch;
use super::{open, overfull, refused};
use crate::scenario::{Facts, Form, Room, Within, cores};

/// Channels, each with a producer.
pub type Ports = Within<1, 128>;

/// How many channels, and of what kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Channels in the alts, each with one producer.
    pub width: Ports,
    /// Each channel.
    pub buffer: Room,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Blocking,
            measure: Measure::Throughput,
            unit: "messages/s",
            axes: Axes {
                family: "alts/contended".to_owned(),
                producers: Some(self.width.count()),
                consumers: Some(1),
                capacity: self.buffer.capacity(),
                unbounded: self.buffer == Room::Unbounded,
                message_bytes: Some(8),
                width: Some(self.width.count()),
                oversubscribed: self.width.count() + 1 > cores().get(),
                ..Axes::default()
            },
        }
    }
}

fn closed() -> StageError {
    refused("a put on an open channel")
}

fn produce<C: Alts, W: Watch>(
    mut tx: C::Tx<u64>,
    producer: u64,
    mut watch: W,
) -> Result<Done<W>, StageError> {
    let mut next = stamp(producer, 0);
    loop {
        for _ in 0..watch.chunk() {
            C::put(&mut tx, next).map_err(|_| closed())?;
            watch.has_put(next);
            next += 1;
        }
        if watch.lap().is_break() {
            C::put(&mut tx, SENTINEL).map_err(|_| closed())?;
            return Ok(Done::keeping(tx, watch));
        }
        while watch.is_far_ahead() {
            thread::yield_now();
        }
    }
}

/// Takes from any ready port, until each has given its sentinel.
fn consume<C: Alts, W: Watch>(rxs: &[C::Rx<u64>], mut watch: W) -> Result<W, StageError> {
    let clauses: Vec<_> = rxs.iter().map(Clause::Take).collect();
    let mut slots = vec![None; clauses.len()];
    let mut alts = C::prepare(&clauses, Order::Random);
    let mut open = rxs.len();
    loop {
        for turn in 0..watch.chunk() {
            match C::run(&mut alts, &mut slots, Patience::Forever) {
                Ok(Chosen::Took {
                    value: Some(SENTINEL),
                    ..
                }) => {
                    open -= 1;
                    if open == 0 {
                        watch.ends(turn);
                        return Ok(watch);
                    }
                }
                Ok(Chosen::Took {
                    clause,
                    value: Some(stamp),
                }) if clause < rxs.len() => watch.has_taken(stamp),
                other => return Err(miscounted(format!("an alts answered {other:?}"))),
            }
        }
        // Producers decide when the window ends.
        let _ = watch.lap();
    }
}

fn run<C: Alts, W: Watches>(params: &Params, watches: &W) -> Result<Reports<W>, StageError> {
    let open = |_| open::<C, u64>(params.buffer.buffer());
    let halves: Result<Vec<_>, _> = (0..params.width.count()).map(open).collect();
    let (txs, rxs): (Vec<_>, Vec<_>) = halves?.into_iter().unzip();
    let watch = watches.consumer();
    let mut jobs: Vec<Job<_>> = Vec::with_capacity(txs.len() + 1);
    jobs.push(Box::new(move || {
        let watch = consume::<C, _>(&rxs, watch)?;
        Ok(Done::keeping(rxs, Report::Consumer(watch)))
    }));
    for (producer, tx) in (0_u64..).zip(txs) {
        let watch = watches.producer();
        jobs.push(Box::new(move || {
            produce::<C, _>(tx, producer, watch).map(|done| done.map(Report::Producer))
        }));
    }
    crew::threads(jobs, watches.edges())
}

struct AltsContended<C> {
    params: Params,
    family: PhantomData<fn(C)>,
}

impl<C: Alts> Stage for AltsContended<C> {
    fn prove(&mut self) -> Result<(), StageError> {
        overfull::<C>(self.params.buffer.buffer())?;
        // An alts invokes a take on every port at once, so puts and takes do not bound one port.
        let proof = Proof::new(self.params.width.count(), None);
        let reports = run::<C, _>(&self.params, &proof)?;
        judge(&proof, reports)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let window = Window::new(&spec, self.params.buffer, 1);
        let reports = run::<C, _>(&self.params, &window)?;
        settle::<u64>(&window, reports)
    }
}

/// A stage.
pub fn stage<C: Alts>(params: Params) -> Box<dyn Stage> {
    Box::new(AltsContended::<C> {
        params,
        family: PhantomData,
    })
}
