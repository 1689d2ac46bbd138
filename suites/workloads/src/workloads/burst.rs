//! Burst: a producer fills the buffer to its capacity, and a consumer drains it. The next burst begins only when the
//! buffer is empty.
//!
//! The consumer reports that on a second channel of the same kind, so each burst also contains one wake-up in each
//! direction. The count is of messages.

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
use crate::scenario::{Capacity, Facts, Form, Room};

/// Bursts of a proof.
const PROOF_BURSTS: u32 = 50;

/// The size of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Values in a burst, and room in the buffer.
    pub capacity: Capacity,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Blocking,
            measure: Measure::Throughput,
            unit: "messages/s",
            axes: Axes {
                family: "burst/blocking".to_owned(),
                producers: Some(1),
                consumers: Some(1),
                capacity: Some(self.capacity.count()),
                message_bytes: Some(8),
                ..Axes::default()
            },
        }
    }
}

fn closed() -> StageError {
    refused("an operation on an open channel")
}

fn fill<C: Blocking, W: Watch>(
    mut to: C::Tx<u64>,
    mut drained: C::Rx<u64>,
    burst: u64,
    mut watch: W,
) -> Result<Done<Option<W>>, StageError> {
    let mut next = 0;
    loop {
        for _ in 0..watch.chunk() {
            for _ in 0..burst {
                C::put(&mut to, next).map_err(|_| closed())?;
                next += 1;
            }
            let seen = C::take(&mut drained).map_err(|_| closed())?;
            if seen != next {
                return Err(miscounted(format!(
                    "{next} values were put and {seen} were taken"
                )));
            }
        }
        if watch.lap().is_break() {
            C::put(&mut to, SENTINEL).map_err(|_| closed())?;
            return Ok(Done::keeping((to, drained), Some(watch)));
        }
    }
}

fn drain<C: Blocking, W>(
    mut from: C::Rx<u64>,
    mut drained: C::Tx<u64>,
    burst: u64,
) -> Result<Done<Option<W>>, StageError> {
    let mut expected = 0;
    loop {
        for _ in 0..burst {
            let came = C::take(&mut from).map_err(|_| closed())?;
            if came == SENTINEL {
                return Ok(Done::keeping((from, drained), None));
            }
            if came != expected {
                return Err(miscounted(format!(
                    "value {expected} was due and value {came} came"
                )));
            }
            expected += 1;
        }
        C::put(&mut drained, expected).map_err(|_| closed())?;
    }
}

fn run<C: Blocking, W: Watch>(
    capacity: Capacity,
    watch: W,
    edges: Option<&Edges>,
) -> Result<W, StageError> {
    let (to, from) = open::<C, u64>(capacity.buffer())?;
    let (tell, told) = open::<C, u64>(capacity.buffer())?;
    let burst = capacity.get();
    let jobs: Vec<Job<Option<W>>> = vec![
        Box::new(move || drain::<C, W>(from, tell, burst)),
        Box::new(move || fill::<C, W>(to, told, burst, watch)),
    ];
    let mut reports = crew::threads(jobs, edges)?.into_iter().flatten();
    reports.next().ok_or_else(closed)
}

struct Burst<C> {
    capacity: Capacity,
    family: PhantomData<fn(C)>,
}

impl<C: Blocking> Stage for Burst<C> {
    fn prove(&mut self) -> Result<(), StageError> {
        stream::prove_pair::<C>(Room::Fixed(self.capacity))?;
        run::<C, _>(self.capacity, Recorded::new(PROOF_BURSTS, None), None).map(drop)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let edges = Edges::new(&spec, 1);
        let watch = Timed::new(edges.counter(), self.capacity.get());
        let watch = run::<C, _>(self.capacity, watch, Some(&edges))?;
        edges.sample(&[watch.pace.finish()])
    }
}

/// A stage.
pub fn stage<C: Blocking>(params: Params) -> Box<dyn Stage> {
    Box::new(Burst::<C> {
        capacity: params.capacity,
        family: PhantomData,
    })
}
