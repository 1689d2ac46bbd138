//! Parallel maps: a function applied to each item of an iterator, n at a time, with results as they complete.

use std::error::Error;
use std::fmt;
use std::future::{Future, ready};
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::channel::{Async, Message};
use crate::executor::Executors;
use crate::limiter::AsyncLimit;

/// An input without a result: its function panicked, the iterator panicked in its place, or the executor is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Index of the input, from zero, in the order in which inputs were taken.
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

/// The result of one input.
pub type Outcome<O> = Result<O, Unfinished>;

/// The outcomes of a parallel map. Dropping it stops the map: no further input is taken, items in flight run to their
/// end, and their results are dropped.
pub trait Outcomes<O>: Send {
    /// The next outcome, as soon as there is one; `None` once all were returned, however often it is called.
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
    /// Whether inputs are taken as the consumer takes results, so that the iterator may be endless. Otherwise all
    /// inputs are taken first, and no result is returned before the last input has begun.
    const LAZY: bool;

    /// The type from which the outcomes are taken.
    type Outcomes<O: Message>: Outcomes<O>;

    /// Starts to apply `function` to each item of `inputs`, `parallelism` at a time, each in a task of `spawner`.
    ///
    /// An input is in flight from the call of `function` until its future has ended. The input is taken before it waits
    /// for `throttle`, so no permit is spent without an item to begin. A lazy map runs the iterator in a task, so an
    /// iterator that blocks holds up a thread of the executor.
    ///
    /// # Panics
    /// Where the channels allow one producer only.
    fn start<I, O, T, A, F>(
        self,
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
