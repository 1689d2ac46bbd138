//! `upmap`: an unordered parallel map over any iterator, lazily, n at a time. And `upmap-eager`, as in the text that
//! both are named after: it takes all its inputs beforehand and hands nothing over before the last has begun.
//!
//! One loop waits for a permit and a place (a `Room` of each) and takes an input. It then waits until the input may
//! begin (a [`Throttle`]), and calls the function in a task of its own. The outcomes arrive on one channel, in the
//! order of completion. An input keeps its place until its outcome is taken. So at most n inputs are taken ahead of the
//! consumer: the iterator may be endless and the consumer slow. The eager map has an unlimited number of places.
//!
//! An input is taken before it waits for the throttle. In the other order the last permit would be spent on no input,
//! and the end would be signalled only once that permit is there: a period too late, at worst.
//!
//! Every input has a `Port`. Dropped without a result, it reports that there is none. So a function that panics, or
//! an executor that is dropped, yields an outcome like any other, and no consumer waits for ever. Each holder of an
//! `End` may have more to report. When the last `End` is dropped the end is signalled, by a message instead of a
//! close, which in some families loses what is buffered.
//!
//! The text counts its inputs and then takes as often. `upmap` differs: it signals the end, so there may be any
//! number of inputs, and a consumer that asks for more than there were gets an answer.
//!
//! ```
//! # #[cfg(not(any(feature = "loom", feature = "shuttle")))] {
//! use std::num::NonZeroUsize;
//!
//! use flowmeter_impls::channel::mutex::MutexChannels;
//! use flowmeter_impls::executor::Executors;
//! use flowmeter_impls::executor::fixed_pool::FixedPool;
//! use flowmeter_impls::pipeline::upmap;
//!
//! let pool = FixedPool::new();
//! let n = NonZeroUsize::new(2).unwrap();
//! let squares = upmap::<MutexChannels, _, _, _, _, _, _>(pool.spawner(), n, (), 1..=4, |i: u32| async move { i * i });
//! assert_eq!(squares.map(Result::unwrap).sum::<u32>(), 30);
//!
//! // An endless iterator: at most n inputs are taken ahead of the results.
//! let one = NonZeroUsize::MIN;
//! let halves = upmap::<MutexChannels, _, _, _, _, _, _>(pool.spawner(), one, (), 1.., |i: u32| async move {
//!     12 / (3 - i)
//! });
//! let first: Vec<_> = halves.take(4).map(Result::ok).collect();
//! assert_eq!(first[..3], [Some(6), Some(12), None], "the third divides by zero");
//! # }
//! ```
//!
//! Source: `upmap` of Anders Murphy, "Clojure: managing throughput with virtual threads".

use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Buffer, Channels, Message};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::parallel_map::{Outcome, Outcomes, ParallelMaps, Throttle, Unfinished};
use flowmeter_harness::pipeline::ResultPort;

use crate::channel::trampoline;
use crate::sync::{Arc, Mutex};

use super::room::Room;
use super::{Demand, ONE, next, open};

/// A parallel map that takes inputs as results are taken, or all of them beforehand.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParallelMap<const LAZY: bool>;

/// Takes inputs as results are taken.
pub type Upmap = ParallelMap<true>;

/// Takes all inputs beforehand, and hands nothing over before the last has begun.
pub type EagerUpmap = ParallelMap<false>;

/// [`Upmap`]'s map as one function: `n` inputs at a time, each once `throttle` lets it pass (`()` lets all pass), in tasks
/// of `spawner`. The results are an iterator, for a thread outside the executor, and [`Outcomes`] for a task.
///
/// # Panics
/// As [`ParallelMaps::start`].
pub fn upmap<C, S, I, O, T, A, F>(
    spawner: S,
    n: NonZeroUsize,
    throttle: T,
    inputs: I,
    function: A,
) -> Results<C, O>
where
    C: Async,
    S: Spawn + Clone + Send + 'static,
    I: IntoIterator<Item: Message, IntoIter: Send + 'static>,
    O: Message,
    T: Throttle + Sync,
    A: Fn(I::Item) -> F + Send + Sync + 'static,
    F: Future<Output = O> + Send + 'static,
{
    let (submission, results) = Submission::new(n, n);
    let inputs = inputs.into_iter();
    let submitting = submission.submit(spawner.clone(), throttle, inputs, function);
    spawner.spawn(submitting);
    results
}

/// The same, but all inputs are taken here, and no result is handed over before the last input has begun.
fn upmap_eagerly<C, S, I, O, T, A, F>(
    spawner: S,
    n: NonZeroUsize,
    throttle: T,
    inputs: I,
    function: A,
) -> Results<C, O>
where
    C: Async,
    S: Spawn + Clone + Send + 'static,
    I: IntoIterator<Item: Message>,
    O: Message,
    T: Throttle + Sync,
    A: Fn(I::Item) -> F + Send + Sync + 'static,
    F: Future<Output = O> + Send + 'static,
{
    let inputs: Vec<I::Item> = inputs.into_iter().collect();
    let (submission, mut results) = Submission::new(n, NonZeroUsize::MAX);
    let (over, submitted) = open::<C, ()>(ONE);
    let over = ResultPort::<C, ()>::new(over);
    results.submitted = Some(submitted);
    let submitting = submission.submit(spawner.clone(), throttle, inputs.into_iter(), function);
    spawner.spawn(async move {
        let _over = over;
        submitting.await;
    });
    results
}

impl<const LAZY: bool, C: Async, E: Executors> ParallelMaps<C, E> for ParallelMap<LAZY> {
    const LAZY: bool = LAZY;
    type Outcomes<O: Message> = Results<C, O>;

    fn start<I, O, T, A, F>(
        self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        throttle: T,
        inputs: I,
        function: A,
    ) -> Results<C, O>
    where
        I: IntoIterator<Item: Message, IntoIter: Send + 'static>,
        O: Message,
        T: Throttle + Sync,
        A: Fn(I::Item) -> F + Send + Sync + 'static,
        F: Future<Output = O> + Send + 'static,
    {
        if LAZY {
            upmap(spawner, parallelism, throttle, inputs, function)
        } else {
            upmap_eagerly(spawner, parallelism, throttle, inputs, function)
        }
    }
}

/// The results of an [`upmap`].
pub struct Results<C: Async, O: Message> {
    arrived: C::Rx<Option<Outcome<O>>>,
    /// Closes when the last input has begun; only in the eager map.
    submitted: Option<C::Rx<()>>,
    places: Arc<Room>,
    demand: Demand,
    ended: bool,
}

impl<C: Async, O: Message> Outcomes<O> for Results<C, O> {
    async fn completed(&mut self) -> Option<Outcome<O>> {
        if let Some(submitted) = &mut self.submitted {
            next::<C, ()>(submitted).await;
            self.submitted = None;
        }
        if self.ended {
            return None;
        }
        let outcome = next::<C, _>(&mut self.arrived).await.flatten();
        match outcome {
            Some(_) => self.places.leave(),
            None => self.ended = true,
        }
        outcome
    }
}

/// Each call blocks the thread until a result is there.
impl<C: Async, O: Message> Iterator for Results<C, O> {
    type Item = Outcome<O>;

    fn next(&mut self) -> Option<Outcome<O>> {
        trampoline::block_on(self.completed())
    }
}

impl<C: Async, O: Message> Drop for Results<C, O> {
    fn drop(&mut self) {
        self.demand.end();
        // Some families do not notice dropped halves.
        C::close_rx(&mut self.arrived);
    }
}

impl<C: Async, O: Message> fmt::Debug for Results<C, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Results { places, ended, .. } = self;
        f.debug_struct("Results")
            .field("places", places)
            .field("ended", ended)
            .finish_non_exhaustive()
    }
}

/// The channel of the outcomes. [`Room`] bounds how many it holds: a buffer of n would count them a second time.
type Arrivals<C, O> = <C as Channels>::Tx<Option<Outcome<O>>>;

/// An outcome without a consumer is refused and dropped.
fn arrive<C: Channels, O: Message>(arrivals: &mut Arrivals<C, O>, outcome: Option<Outcome<O>>) {
    drop(C::offer(arrivals, outcome));
}

/// Signals the end when it is dropped: with the last port, after the loop that makes them.
///
/// The lock makes it shareable among threads, which a producer need not be. It is used once.
struct End<C: Channels, O: Message>(Mutex<Arrivals<C, O>>);

impl<C: Channels, O: Message> Drop for End<C, O> {
    fn drop(&mut self) {
        arrive::<C, O>(&mut self.0.lock(), None);
    }
}

/// Held by an input until its function has ended.
struct Permit(Arc<Room>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Delivers the outcome of one input. Dropped before that, it reports that there is no result.
struct Port<C: Channels, O: Message> {
    arrivals: Arrivals<C, O>,
    /// The number of the input; `None` once nothing is left to report.
    input: Option<u64>,
    _permit: Permit,
    _end: Arc<End<C, O>>,
}

impl<C: Channels, O: Message> Port<C, O> {
    fn give(mut self, result: O) {
        self.input = None;
        arrive::<C, O>(&mut self.arrivals, Some(Ok(result)));
    }

    /// There is no such input, or no outcome is wanted. Its place stays taken, since no input follows.
    fn withdraw(mut self) {
        self.input = None;
    }
}

impl<C: Channels, O: Message> Drop for Port<C, O> {
    fn drop(&mut self) {
        if let Some(input) = self.input.take() {
            arrive::<C, O>(&mut self.arrivals, Some(Err(Unfinished { input })));
        }
    }
}

/// The loop that begins the inputs of one map.
struct Submission<C: Async, O: Message> {
    arrivals: Arrivals<C, O>,
    end: Arc<End<C, O>>,
    room: BothRooms,
    demand: Demand,
}

/// Room for the inputs in flight, and for those with outcomes that the consumer has not taken.
struct BothRooms {
    permits: Arc<Room>,
    places: Arc<Room>,
}

impl BothRooms {
    /// Takes one of each. A place without an input stays taken, since no input follows.
    async fn enter(&self) -> Permit {
        self.permits.enter().await;
        let permit = Permit(Arc::clone(&self.permits));
        self.places.enter().await;
        permit
    }
}

impl<C: Async, O: Message> Submission<C, O> {
    fn new(parallelism: NonZeroUsize, places: NonZeroUsize) -> (Self, Results<C, O>) {
        let (arrivals, arrived) = open::<C, _>(Buffer::Unbounded);
        let submission = Submission {
            end: Arc::new(End(Mutex::new(another::<C, O>(&arrivals)))),
            arrivals,
            room: BothRooms {
                permits: Arc::new(Room::new(parallelism)),
                places: Arc::new(Room::new(places)),
            },
            demand: Demand::default(),
        };
        let results = Results {
            arrived,
            submitted: None,
            places: Arc::clone(&submission.room.places),
            demand: submission.demand.clone(),
            ended: false,
        };
        (submission, results)
    }

    fn port(&self, input: u64, permit: Permit) -> Port<C, O> {
        Port {
            arrivals: another::<C, O>(&self.arrivals),
            input: Some(input),
            _permit: permit,
            _end: Arc::clone(&self.end),
        }
    }

    /// Begins one input after the other, until there are no more or none is wanted.
    async fn submit<I, T, A, F>(self, spawner: impl Spawn, throttle: T, mut inputs: I, function: A)
    where
        I: Iterator<Item: Message>,
        T: Throttle,
        A: Fn(I::Item) -> F + Send + Sync + 'static,
        F: Future<Output = O> + Send + 'static,
    {
        let function = Arc::new(function);
        for nth in 0.. {
            let entered = self.demand.unless_ended(self.room.enter()).await;
            let Some(permit) = entered else { break };
            // Before `next`: an iterator that panics has an outcome, too.
            let port = self.port(nth, permit);
            let Some(input) = inputs.next() else {
                port.withdraw();
                break;
            };
            if self.demand.unless_ended(throttle.pass()).await.is_none() {
                port.withdraw();
                break;
            }
            let function = Arc::clone(&function);
            spawner.spawn(async move { port.give(function(input).await) });
        }
    }
}

fn another<C: Channels, O: Message>(arrivals: &Arrivals<C, O>) -> Arrivals<C, O> {
    C::another_tx(arrivals).expect("a parallel map needs channels of several producers")
}
