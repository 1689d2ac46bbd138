//! Parallel maps: a function applied to everything that an iterator gives, n at a time, with results as they complete.

use std::error::Error;
use std::fmt;
use std::future::{Future, ready};
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::channel::{Async, Message};
use crate::executor::Executors;
use crate::limiter::AsyncLimit;

/// An input that has no result: its function panicked, the iterator did where it was to give it, or the executor is
/// gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Which one, from zero, in the order in which inputs were taken.
    pub input: u64,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "input {} has no result: its function panicked, or the executor was dropped",
            self.input
        )
    }
}

impl Error for Unfinished {}

/// What comes of one input.
pub type Outcome<O> = Result<O, Unfinished>;

/// Where the outcomes of a parallel map are taken from. Dropping it stops the map: no further input is taken, and what is
/// in flight comes to its end for nobody.
pub trait Outcomes<O>: Send {
    /// The next outcome, as soon as there is one; `None` once all were handed over, however often that is asked.
    fn completed(&mut self) -> impl Future<Output = Option<Outcome<O>>> + Send;
}

/// What each input waits for before its function is called: a limiter, or nothing (`()`).
pub trait Throttle: Send + 'static {
    /// Ready when one more may begin.
    fn pass(&self) -> impl Future<Output = ()> + Send;
}

impl Throttle for () {
    fn pass(&self) -> impl Future<Output = ()> + Send {
        ready(())
    }
}

impl<L: AsyncLimit> Throttle for Arc<L> {
    fn pass(&self) -> impl Future<Output = ()> + Send {
        self.acquire_async()
    }
}

/// A design of unordered parallel maps, over any channel and executor (P7).
pub trait ParallelMaps<C: Async, E: Executors>: Sized + Send + Sync + 'static {
    /// Whether inputs are taken and results handed over as the consumer goes on, so that the iterator may be endless.
    /// Else all inputs are taken beforehand, and nothing is handed over before the last has begun.
    const LAZY: bool;

    /// Where the outcomes are taken from.
    type Outcomes<O: Message>: Outcomes<O>;

    /// Starts to apply `function` to all that `inputs` gives, `parallelism` at a time, each in a task of `spawner`. An
    /// input is in flight from the call of `function` until its future has ended; it is taken before it waits for
    /// `throttle`, so that no permit is taken that nothing is begun with. The iterator runs in a task where the map is
    /// lazy: one that blocks holds up a thread of the executor.
    ///
    /// # Panics
    /// Where the channels have one producer only.
    fn start<I, O, T, A, F>(
        &self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        throttle: T,
        inputs: I,
        function: A,
    ) -> Self::Outcomes<O>
    where
        I: IntoIterator<Item: Message, IntoIter: Send + 'static>,
        O: Message,
        T: Throttle + Sync,
        A: Fn(I::Item) -> F + Send + Sync + 'static,
        F: Future<Output = O> + Send + 'static;
}
