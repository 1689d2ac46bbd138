//! Ping-pong: one value goes to another thread or task and back, over two channels.
//!
//! Nothing overlaps, so this is the cost of a wake-up. The serving side counts round trips and checks each answer.

use std::marker::PhantomData;

use flowmeter_harness::channel::{Async, Blocking};
use flowmeter_harness::executor::Executors;
use flowmeter_measure::edges::{Counter, Edges};
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::crew::{self, Done, Job, Tasks, executor};
use super::ledger::miscounted;
use super::payload::SENTINEL;
use super::stream;
use super::watch::{Recorded, Timed, Watch};
use super::{open, overfull, refused};
use crate::scenario::{Facts, Form, Room, cores};

/// Round trips of a proof.
const PROOF_TURNS: u32 = 500;

/// The channels, and how both sides wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Both channels.
    pub buffer: Room,
    /// How both sides wait.
    pub form: Form,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: self.form,
            measure: Measure::Throughput,
            unit: "round trips/s",
            axes: Axes {
                family: format!("ping-pong/{}", self.form.name()),
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

fn wrong(sent: u64, came: u64) -> StageError {
    miscounted(format!("{sent} was sent and {came} came back"))
}

/// The serving side.
fn serve<C: Blocking, W: Watch>(
    mut to: C::Tx<u64>,
    mut from: C::Rx<u64>,
    mut watch: W,
) -> Result<Done<Option<W>>, StageError> {
    let mut ball = 0;
    loop {
        for _ in 0..watch.chunk() {
            C::put(&mut to, ball).map_err(|_| closed())?;
            let came = C::take(&mut from).map_err(|_| closed())?;
            if came != ball {
                return Err(wrong(ball, came));
            }
            ball += 1;
        }
        if watch.lap().is_break() {
            C::put(&mut to, SENTINEL).map_err(|_| closed())?;
            return Ok(Done::keeping((to, from), Some(watch)));
        }
    }
}

/// The returning side.
fn give_back<C: Blocking, W>(
    mut from: C::Rx<u64>,
    mut to: C::Tx<u64>,
) -> Result<Done<Option<W>>, StageError> {
    loop {
        let ball = C::take(&mut from).map_err(|_| closed())?;
        if ball == SENTINEL {
            return Ok(Done::keeping((to, from), None));
        }
        C::put(&mut to, ball).map_err(|_| closed())?;
    }
}

fn run<C: Blocking, W: Watch>(
    buffer: Room,
    watch: W,
    edges: Option<&Edges>,
) -> Result<W, StageError> {
    let (to, arrives) = open::<C, u64>(buffer.buffer())?;
    let (back, returns) = open::<C, u64>(buffer.buffer())?;
    let jobs: Vec<Job<Option<W>>> = vec![
        Box::new(move || give_back::<C, W>(arrives, back)),
        Box::new(move || serve::<C, W>(to, returns, watch)),
    ];
    crew::threads(jobs, edges).and_then(server)
}

/// The report of the serving side.
fn server<W>(reports: Vec<Option<W>>) -> Result<W, StageError> {
    let mut reports = reports.into_iter().flatten();
    reports.next().ok_or_else(closed)
}

async fn serve_async<C: Async, W: Watch>(
    mut to: C::Tx<u64>,
    mut from: C::Rx<u64>,
    mut watch: W,
) -> Result<Done<Option<W>>, StageError> {
    let mut ball = 0;
    loop {
        for _ in 0..watch.chunk() {
            let put = C::put_async(&mut to, ball).await;
            put.map_err(|_| closed())?;
            let came = C::take_async(&mut from).await.map_err(|_| closed())?;
            if came != ball {
                return Err(wrong(ball, came));
            }
            ball += 1;
        }
        if watch.lap().is_break() {
            let put = C::put_async(&mut to, SENTINEL).await;
            put.map_err(|_| closed())?;
            return Ok(Done::keeping((to, from), Some(watch)));
        }
    }
}

async fn give_back_async<C: Async, W>(
    mut from: C::Rx<u64>,
    mut to: C::Tx<u64>,
) -> Result<Done<Option<W>>, StageError> {
    loop {
        let ball = C::take_async(&mut from).await.map_err(|_| closed())?;
        if ball == SENTINEL {
            return Ok(Done::keeping((to, from), None));
        }
        let put = C::put_async(&mut to, ball).await;
        put.map_err(|_| closed())?;
    }
}

fn run_async<C: Async, E: Executors, W: Watch>(
    executor: &E,
    buffer: Room,
    watch: W,
    edges: Option<&Edges>,
) -> Result<W, StageError> {
    let (to, arrives) = open::<C, u64>(buffer.buffer())?;
    let (back, returns) = open::<C, u64>(buffer.buffer())?;
    let mut tasks = Tasks::on(executor, 2, edges);
    tasks.spawn(give_back_async::<C, W>(arrives, back));
    tasks.spawn(serve_async::<C, W>(to, returns, watch));
    tasks.join().and_then(server)
}

fn timed(edges: &Edges) -> Timed<Counter> {
    Timed::new(edges.counter(), 1)
}

struct PingPong<C> {
    buffer: Room,
    family: PhantomData<fn(C)>,
}

impl<C: Blocking> Stage for PingPong<C> {
    fn prove(&mut self) -> Result<(), StageError> {
        stream::prove_pair::<C>(self.buffer)?;
        run::<C, _>(self.buffer, Recorded::new(PROOF_TURNS, None), None).map(drop)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let edges = Edges::new(&spec, 1);
        let watch = run::<C, _>(self.buffer, timed(&edges), Some(&edges))?;
        edges.sample(&[watch.pace.finish()])
    }
}

struct PingPongAsync<C, E> {
    buffer: Room,
    executor: E,
    family: PhantomData<fn(C)>,
}

impl<C: Async, E: Executors> Stage for PingPongAsync<C, E> {
    fn prove(&mut self) -> Result<(), StageError> {
        overfull::<C>(self.buffer.buffer())?;
        let watch = Recorded::new(PROOF_TURNS, None);
        run_async::<C, E, _>(&self.executor, self.buffer, watch, None).map(drop)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let edges = Edges::new(&spec, 1);
        let watch = run_async::<C, E, _>(&self.executor, self.buffer, timed(&edges), Some(&edges))?;
        edges.sample(&[watch.pace.finish()])
    }
}

/// A stage of threads.
pub fn stage<C: Blocking>(params: Params) -> Box<dyn Stage> {
    Box::new(PingPong::<C> {
        buffer: params.buffer,
        family: PhantomData,
    })
}

/// A stage of tasks.
///
/// # Errors
/// Where its threads should have a core each, and cannot be pinned.
pub fn stage_async<C: Async, E: Executors>(params: Params) -> Result<Box<dyn Stage>, StageError> {
    Ok(Box::new(PingPongAsync::<C, E> {
        buffer: params.buffer,
        executor: executor(cores())?,
        family: PhantomData,
    }))
}
