//! Chain: one value goes through n channels, from thread to thread, in a circle.
//!
//! One thread runs at a time, so this is the cost of a hand-over when the next thread is one of many sleeping ones.
//! The count is of hops: channels passed.

use std::marker::PhantomData;

use flowmeter_harness::channel::Blocking;
use flowmeter_measure::edges::Edges;
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::crew::{self, Done, Job};
use super::ledger::miscounted;
use super::payload::SENTINEL;
use super::stream;
use super::watch::{Recorded, Timed, Watch};
use super::{open, refused};
use crate::scenario::{Facts, Form, Room, Within};

/// Rounds of a proof.
const PROOF_ROUNDS: u32 = 50;

/// Channels in a chain; each has a thread.
pub type Links = Within<2, 64>;

/// The length of a chain, and its channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Channels, and threads.
    pub links: Links,
    /// Each channel.
    pub buffer: Room,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Blocking,
            measure: Measure::Throughput,
            unit: "hops/s",
            axes: Axes {
                family: format!("chain/{}", self.links.get()),
                capacity: self.buffer.capacity(),
                unbounded: self.buffer == Room::Unbounded,
                message_bytes: Some(8),
                ..Axes::default()
            },
        }
    }
}

fn closed() -> StageError {
    refused("an operation on an open channel")
}

/// The thread that starts each round.
fn send_round<C: Blocking, W: Watch>(
    mut first: C::Tx<u64>,
    mut last: C::Rx<u64>,
    mut watch: W,
) -> Result<Done<Option<W>>, StageError> {
    let mut ball = 0;
    loop {
        for _ in 0..watch.chunk() {
            C::put(&mut first, ball).map_err(|_| closed())?;
            let came = C::take(&mut last).map_err(|_| closed())?;
            if came != ball {
                return Err(miscounted(format!("{ball} was sent and {came} came out")));
            }
            ball += 1;
        }
        if watch.lap().is_break() {
            C::put(&mut first, SENTINEL).map_err(|_| closed())?;
            return match C::take(&mut last).map_err(|_| closed())? {
                SENTINEL => Ok(Done::keeping((first, last), Some(watch))),
                more => Err(miscounted(format!("{more} came out, and was not sent"))),
            };
        }
    }
}

fn pass_on<C: Blocking, W>(
    mut from: C::Rx<u64>,
    mut to: C::Tx<u64>,
) -> Result<Done<Option<W>>, StageError> {
    loop {
        let ball = C::take(&mut from).map_err(|_| closed())?;
        C::put(&mut to, ball).map_err(|_| closed())?;
        if ball == SENTINEL {
            return Ok(Done::keeping((from, to), None));
        }
    }
}

fn run<C: Blocking, W: Watch>(
    params: &Params,
    watch: W,
    edges: Option<&Edges>,
) -> Result<W, StageError> {
    let (first, mut from) = open::<C, u64>(params.buffer.buffer())?;
    let mut jobs: Vec<Job<Option<W>>> = Vec::with_capacity(params.links.count());
    for _ in 1..params.links.count() {
        let (to, next) = open::<C, u64>(params.buffer.buffer())?;
        let taken = std::mem::replace(&mut from, next);
        jobs.push(Box::new(move || pass_on::<C, W>(taken, to)));
    }
    jobs.push(Box::new(move || send_round::<C, W>(first, from, watch)));
    let mut reports = crew::threads(jobs, edges)?.into_iter().flatten();
    reports.next().ok_or_else(closed)
}

struct Chain<C> {
    params: Params,
    family: PhantomData<fn(C)>,
}

impl<C: Blocking> Stage for Chain<C> {
    fn prove(&mut self) -> Result<(), StageError> {
        stream::prove_pair::<C>(self.params.buffer)?;
        run::<C, _>(&self.params, Recorded::new(PROOF_ROUNDS, None), None).map(drop)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let edges = Edges::new(&spec, 1);
        let watch = Timed::new(edges.counter(), self.params.links.get());
        let watch = run::<C, _>(&self.params, watch, Some(&edges))?;
        edges.sample(&[watch.pace.finish()])
    }
}

/// A stage.
pub fn stage<C: Blocking>(params: Params) -> Box<dyn Stage> {
    Box::new(Chain::<C> {
        params,
        family: PhantomData,
    })
}
