//! `upmap`: an unordered parallel map over any iterator, lazily, n at a time; and `upmap-eager`, the same as the text that
//! it is named after has it, which takes all its inputs beforehand and hands nothing over before the last has begun.
//!
//! One loop waits for a permit and a place (a `Room` of each), takes an input, waits until it may begin (a [`Throttle`]), and calls
//! the function in a task of its own. What comes of that arrives on one channel, in the order of completion. A place is an
//! input's until its outcome is taken, so that n are taken at most of which the consumer has heard nothing: an endless
//! iterator is as good as another, and who takes slowly is not run away from. The eager one has any number of places.
//!
//! An input is taken before it waits for the throttle. The other way round a permit would be taken that nothing is begun
//! with, and the end be told as late as that permit is there: a period too late, at worst.
//!
//! Every input has a `Port`, which tells when it is dropped without a result that there is none. So a function that
//! panics, and an executor that goes, are heard of like any other outcome, and nobody waits for ever. Whoever holds an
//! `End` may have more to tell; with the last of them the end is told, by a message instead of a close, which in some
//! families loses what is buffered.
//!
//! Where `upmap` differs from the text, which counts its inputs and then takes as often: the end is told, so there may be
//! any number, and who asks for more than there were is answered.
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
//! // Without an end: of more than n no input is taken before somebody takes a result.
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

/// A parallel map: as inputs are asked for, or all of them beforehand.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParallelMap<const LAZY: bool>;

/// As inputs are asked for.
pub type Upmap = ParallelMap<true>;

/// All inputs beforehand, and nothing handed over before the last has begun.
pub type EagerUpmap = ParallelMap<false>;

/// [`Upmap`]'s map, as one function: `n` at a time, each once `throttle` lets it pass (`()` lets all), in tasks of
/// `spawner`. The results are an iterator, for a thread that is none of the executor's, and [`Outcomes`] for a task.
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

/// The same with all inputs taken here, and none of the results handed over before the last of them has begun.
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
        &self,
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

/// What comes out of an [`upmap`].
pub struct Results<C: Async, O: Message> {
    arrived: C::Rx<Option<Outcome<O>>>,
    /// Closes when the last input has begun, where nothing is handed over before.
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

/// Each holds up the thread until it is there.
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

/// What outcomes arrive by. [`Room`] bounds how many lie there: a buffer of n would count the same again.
type Arrivals<C, O> = <C as Channels>::Tx<Option<Outcome<O>>>;

/// Refused where nobody is left to take it, and dropped then.
fn arrive<C: Channels, O: Message>(arrivals: &mut Arrivals<C, O>, outcome: Option<Outcome<O>>) {
    drop(C::offer(arrivals, outcome));
}

/// Tells the end when it is dropped: with the last port, and the loop that makes them.
///
/// The lock is for sharing it among threads: a producer may not be, and this one is used once.
struct End<C: Channels, O: Message>(Mutex<Arrivals<C, O>>);

impl<C: Channels, O: Message> Drop for End<C, O> {
    fn drop(&mut self) {
        arrive::<C, O>(&mut self.0.lock(), None);
    }
}

/// An input's, until its function has ended.
struct Permit(Arc<Room>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// What one input's outcome goes through. Dropped before that it tells that there is none.
struct Port<C: Channels, O: Message> {
    arrivals: Arrivals<C, O>,
    /// Which input; gone once nothing is left to tell.
    input: Option<u64>,
    _permit: Permit,
    _end: Arc<End<C, O>>,
}

impl<C: Channels, O: Message> Port<C, O> {
    fn give(mut self, result: O) {
        self.input = None;
        arrive::<C, O>(&mut self.arrivals, Some(Ok(result)));
    }

    /// There is no such input, or nobody wants to hear of it. Its place stays taken: it is the last.
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

/// Whoever begins the inputs of one map.
struct Submission<C: Async, O: Message> {
    arrivals: Arrivals<C, O>,
    end: Arc<End<C, O>>,
    room: BothRooms,
    demand: Demand,
}

/// Room for what is in flight, and for that of which the consumer has not heard.
struct BothRooms {
    permits: Arc<Room>,
    places: Arc<Room>,
}

impl BothRooms {
    /// One of each. A place that no input comes for stays taken, as there are no more then.
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

    /// Begins one input after the other, until there are no more or nobody wants any.
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
            // An iterator that panics here has an outcome, too.
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
