//! Stream: producers put and consumers take as fast as they can, blocking.
//!
//! Consumers count. Producers go on until every consumer has passed the second edge (or sleeps, see
//! [`edges`](flowmeter_measure::edges)). The last producer then puts one sentinel for each consumer, so that
//! consumers of channels without close end too. Where the buffer has no bound, producers may be 65,536 values ahead
//! (see `lead`). The same loops run as tasks in `stream_async`, and half of them in `stream_mixed`.

use std::hint::black_box;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use flowmeter_harness::channel::{Blocking, Channels, Message};
use flowmeter_measure::edges::{Counted, Counter, Edges, Laps};
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Fairness, Measure};
use serde::{Deserialize, Serialize};

use super::bare;
use super::crew::{self, Done, Job};
use super::fairness::jain;
use super::lead::Lead;
use super::ledger::{Bound, Tally, exact};
use super::payload::{Payload, SENTINEL, stamp};
use super::watch::{Recorded, Timed, Watch};
use super::{open, overfull, refused};
use crate::scenario::{Facts, Form, MessageKind, Room, Threads, cores};

/// The values that a proof sends, over all producers.
const PROOF_VALUES: u32 = 4_000;

/// The threads or tasks of a stream, and its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Threads or tasks that put.
    pub producers: Threads,
    /// Threads or tasks that take.
    pub consumers: Threads,
    /// The channel between them.
    pub buffer: Room,
    /// The type of a message.
    pub message: MessageKind,
    /// How they wait.
    pub form: Form,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        let of = match self.message {
            MessageKind::Box => "/box",
            MessageKind::Worked => "/100 ns of work",
            MessageKind::LongWorked => "/1 us of work",
            _ => "",
        };
        // Tasks share as many threads as there are cores.
        let workers = |tasks: usize| tasks.min(cores().get());
        let busy = match self.form {
            Form::Blocking => self.producers() + self.consumers(),
            Form::Mixed => self.producers() + workers(self.consumers()),
            _ => workers(self.producers() + self.consumers()),
        };
        Facts {
            form: self.form,
            measure: Measure::Throughput,
            unit: "messages/s",
            axes: Axes {
                family: format!("stream/{}{of}", self.form.name()),
                producers: Some(self.producers.count()),
                consumers: Some(self.consumers.count()),
                capacity: self.buffer.capacity(),
                unbounded: self.buffer == Room::Unbounded,
                message_bytes: Some(self.message.bytes()),
                oversubscribed: busy > cores().get(),
                ..Axes::default()
            },
        }
    }

    fn producers(&self) -> usize {
        self.producers.count()
    }

    fn consumers(&self) -> usize {
        self.consumers.count()
    }
}

/// The report of one thread or task of a stream.
pub enum Report<A, B> {
    /// A producer's.
    Producer(A),
    /// A consumer's.
    Consumer(B),
}

/// The reports of all threads or tasks of a stream.
pub type Reports<W> = Vec<Report<<W as Watches>::Producer, <W as Watches>::Consumer>>;

/// All producers and all consumers of one channel.
type Halves<C, P> = (Vec<<C as Channels>::Tx<P>>, Vec<<C as Channels>::Rx<P>>);

/// A channel with all its producers and consumers.
pub fn halves<C: Channels, P: Message>(params: &Params) -> Result<Halves<C, P>, StageError> {
    let (tx, rx) = open::<C, P>(params.buffer.buffer())?;
    let lacking = || refused("another half");
    let txs: Option<Vec<_>> = (1..params.producers())
        .map(|_| C::another_tx(&tx))
        .collect();
    let rxs: Option<Vec<_>> = (1..params.consumers())
        .map(|_| C::another_rx(&rx))
        .collect();
    let (mut txs, mut rxs) = (txs.ok_or_else(lacking)?, rxs.ok_or_else(lacking)?);
    txs.push(tx);
    rxs.push(rx);
    Ok((txs, rxs))
}

/// Producers that have not ended; the last one to end puts the sentinels.
#[derive(Clone)]
pub struct Remaining(Arc<AtomicUsize>);

impl Remaining {
    /// All of them.
    pub fn new(producers: usize) -> Remaining {
        Remaining(Arc::new(AtomicUsize::new(producers)))
    }

    /// One has ended; returns whether it was the last.
    pub fn ends(&self) -> bool {
        // AcqRel: the sentinels of the last one come after the puts of all others.
        self.0.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// The watches for the threads of one window or proof.
pub trait Watches {
    /// Watches a producer.
    type Producer: Watch;
    /// Watches a consumer.
    type Consumer: Watch;
    /// The watch for the next producer.
    fn producer(&self) -> Self::Producer;
    /// The watch for the next consumer.
    fn consumer(&self) -> Self::Consumer;
    /// The window that begins when all have arrived, if there is one.
    fn edges(&self) -> Option<&Edges>;
}

/// The watches of a window.
pub struct Window {
    edges: Edges,
    lead: Option<Lead>,
}

impl Window {
    /// For a channel with that room and that many consumers.
    pub fn new(spec: &WindowSpec, room: Room, consumers: usize) -> Window {
        Window {
            edges: Edges::new(spec, consumers),
            lead: (room == Room::Unbounded).then(|| Lead::new(consumers)),
        }
    }

    fn lead(&self) -> Option<Lead> {
        self.lead.as_ref().map(Lead::share)
    }
}

impl Watches for Window {
    type Producer = Timed<Laps>;
    type Consumer = Timed<Counter>;

    fn producer(&self) -> Timed<Laps> {
        Timed::new(self.edges.laps(), 1).bounded(self.lead())
    }

    fn consumer(&self) -> Timed<Counter> {
        Timed::new(self.edges.counter(), 1).bounded(self.lead())
    }

    fn edges(&self) -> Option<&Edges> {
        Some(&self.edges)
    }
}

/// The watches of a proof.
pub struct Proof {
    /// The values that each producer sends.
    pub turns: u32,
    /// Watches the capacity, where there is one.
    pub bound: Option<Arc<Bound>>,
}

impl Proof {
    /// For a channel with that capacity.
    pub fn new(producers: usize, capacity: Option<usize>) -> Proof {
        Proof {
            turns: (PROOF_VALUES / producers as u32).max(16),
            bound: capacity.map(|capacity| Arc::new(Bound::new(capacity))),
        }
    }
}

impl Watches for Proof {
    type Producer = Recorded;
    type Consumer = Recorded;

    fn producer(&self) -> Recorded {
        Recorded::new(self.turns, self.bound.clone())
    }

    fn consumer(&self) -> Recorded {
        Recorded::new(u32::MAX, self.bound.clone())
    }

    fn edges(&self) -> Option<&Edges> {
        None
    }
}

/// What both sides do with a message beside putting and taking it, one after the other on one thread.
fn bare_nanos<P: Payload>() -> f64 {
    let (mut put, mut taken) = (Tally::default(), Tally::default());
    let mut next = stamp(0, 0);
    bare::nanos(1, |turns| {
        for _ in 0..turns {
            let value = black_box(P::new(next));
            put.add(next);
            next += 1;
            let stamp = value.stamp();
            if stamp != SENTINEL {
                taken.add(stamp);
            }
        }
        black_box((&put, &taken));
    })
}

/// Evaluates all reports of a window.
pub fn settle<P: Payload>(window: &Window, reports: Reports<Window>) -> Result<Sample, StageError> {
    let (mut put, mut taken) = (Vec::new(), Vec::new());
    let mut counted: Vec<Option<Counted>> = Vec::new();
    for report in reports {
        match report {
            Report::Producer(watch) => put.push(watch.put),
            Report::Consumer(watch) => {
                taken.push(watch.taken);
                counted.push(watch.pace.finish());
            }
        }
    }
    // The fairness of a single thread is always 1, which says nothing.
    let several = put.len() > 1 || counted.len() > 1;
    let fairness = several.then(|| Fairness {
        producers: jain(put.iter().map(|tally| tally.count as f64)),
        consumers: jain(counted.iter().flatten().map(|counted| counted.operations)),
    });
    Tally::agree(
        Tally::total(put.into_iter()),
        Tally::total(taken.into_iter()),
    )?;
    let mut sample = window.edges.sample(&counted)?;
    sample.findings.fairness = fairness;
    sample.findings.bare_nanos = Some(bare_nanos::<P>());
    Ok(sample)
}

/// Evaluates all reports of a proof.
pub fn judge(proof: &Proof, reports: Reports<Proof>) -> Result<(), StageError> {
    let (mut put, mut taken) = (Vec::new(), Vec::new());
    for report in reports {
        match report {
            Report::Producer(watch) => put.push(watch.put),
            Report::Consumer(watch) => taken.push(watch.taken),
        }
    }
    exact(&put, &taken)?;
    proof.bound.as_ref().map_or(Ok(()), |bound| bound.kept())
}

/// A producing thread.
pub(super) fn produce<C: Blocking, P: Payload, W: Watch>(
    mut tx: C::Tx<P>,
    producer: u64,
    mut watch: W,
    remaining: &Remaining,
    consumers: usize,
) -> Result<Done<W>, StageError> {
    let mut put = |value| C::put(&mut tx, value).map_err(|_| refused("a put on an open channel"));
    let mut next = stamp(producer, 0);
    loop {
        for _ in 0..watch.chunk() {
            put(P::new(next))?;
            watch.has_put(next);
            next += 1;
        }
        if watch.lap().is_break() {
            break;
        }
        while watch.is_far_ahead() {
            thread::yield_now();
        }
    }
    if remaining.ends() {
        for _ in 0..consumers {
            put(P::new(SENTINEL))?;
        }
    }
    Ok(Done::keeping(tx, watch))
}

/// A consuming thread, until its sentinel.
fn consume<C: Blocking, P: Payload, W: Watch>(
    mut rx: C::Rx<P>,
    mut watch: W,
) -> Result<Done<W>, StageError> {
    while watch.holds_back() {
        thread::yield_now();
    }
    loop {
        for turn in 0..watch.chunk() {
            watch.will_take();
            let value = C::take(&mut rx).map_err(|_| refused("a take from an open channel"))?;
            let stamp = value.stamp();
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

fn run<C: Blocking, P: Payload, W: Watches>(
    params: &Params,
    watches: &W,
) -> Result<Reports<W>, StageError> {
    let (txs, rxs) = halves::<C, P>(params)?;
    let remaining = Remaining::new(params.producers());
    let consumers = params.consumers();
    let mut jobs: Vec<Job<_>> = Vec::with_capacity(txs.len() + rxs.len());
    for rx in rxs {
        let watch = watches.consumer();
        jobs.push(Box::new(move || {
            consume::<C, P, _>(rx, watch).map(|done| done.map(Report::Consumer))
        }));
    }
    for (producer, tx) in (0_u64..).zip(txs) {
        let (watch, remaining) = (watches.producer(), remaining.clone());
        jobs.push(Box::new(move || {
            produce::<C, P, _>(tx, producer, watch, &remaining, consumers)
                .map(|done| done.map(Report::Producer))
        }));
    }
    crew::threads(jobs, watches.edges())
}

/// An implementation about to run a blocking stream of messages `P`.
struct Stream<C, P> {
    params: Params,
    family: PhantomData<fn(C, P)>,
}

impl<C: Blocking, P: Payload> Stage for Stream<C, P> {
    fn prove(&mut self) -> Result<(), StageError> {
        overfull::<C>(self.params.buffer.buffer())?;
        let proof = Proof::new(self.params.producers(), self.params.buffer.capacity());
        let reports = run::<C, P, _>(&self.params, &proof)?;
        judge(&proof, reports)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let window = Window::new(&spec, self.params.buffer, self.params.consumers());
        let reports = run::<C, P, _>(&self.params, &window)?;
        settle::<P>(&window, reports)
    }
}

/// A stage for that message.
pub fn stage<C: Blocking, P: Payload>(params: Params) -> Box<dyn Stage> {
    Box::new(Stream::<C, P> {
        params,
        family: PhantomData,
    })
}

/// Proves that one producer and one consumer lose, repeat and reorder no value over such a buffer.
pub fn prove_pair<C: Blocking>(buffer: Room) -> Result<(), StageError> {
    let one = Threads::ONE;
    let params = Params {
        producers: one,
        consumers: one,
        buffer,
        message: MessageKind::Word,
        form: Form::Blocking,
    };
    Stream::<C, u64> {
        params,
        family: PhantomData,
    }
    .prove()
}
