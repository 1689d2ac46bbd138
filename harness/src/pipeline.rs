//! Pipelines: an asynchronous function applied to each value from a channel, n at a time.

use std::future::Future;
use std::num::NonZeroUsize;

use crate::channel::{Async, Callback, Channels, Message, PutError};
use crate::executor::Executors;

/// What happens to the output when the input has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// Close it, once everything is delivered (P3).
    Close,
    /// Leave it open.
    LeaveOpen,
}

/// The sink for the results of one input: none, one or many.
///
/// Dropping it closes the result channel, also while unwinding, so the end of an item is visible on channels that do
/// not notice dropped halves. A family that loses buffered values at a close needs a rendezvous as result channel; such
/// a family does not claim [`Claim::KeepsBuffered`](crate::caps::Claim::KeepsBuffered).
#[derive(Debug)]
pub struct ResultPort<C: Channels, O: Message, P = ()> {
    results: C::Tx<O>,
    /// Dropped after the channel is closed.
    _permit: P,
}

impl<C: Channels, O: Message> ResultPort<C, O> {
    /// A port into `results`. Its channel has no other producer.
    pub fn new(results: C::Tx<O>) -> Self {
        ResultPort::holding(results, ())
    }
}

impl<C: Channels, O: Message, P> ResultPort<C, O, P> {
    /// [`ResultPort::new`], with a permit that is dropped once the port has closed the channel. Its drop tells the
    /// creator that the item has ended, even while no consumer takes the results.
    pub fn holding(results: C::Tx<O>, permit: P) -> Self {
        ResultPort {
            results,
            _permit: permit,
        }
    }
}

impl<C: Async, O: Message, P> ResultPort<C, O, P> {
    /// Puts one result, waiting for room.
    ///
    /// # Errors
    /// As [`Async::put_async`].
    pub fn put(&mut self, value: O) -> impl Future<Output = Result<(), PutError<O>>> + Send {
        C::put_async(&mut self.results, value)
    }
}

impl<C: Callback, O: Message, P> ResultPort<C, O, P> {
    /// As [`Callback::put_then`].
    pub fn put_then(&self, value: O, then: impl FnOnce(Result<(), PutError<O>>) + Send + 'static) {
        C::put_then(&self.results, value, then);
    }
}

impl<C: Channels, O: Message, P> Drop for ResultPort<C, O, P> {
    fn drop(&mut self) {
        // `false`: the family ends channels only by dropping halves, and this half is dropped next.
        C::close(&self.results);
    }
}

/// A design of pipelines, over any channel and executor.
///
/// The value is the configured design: it holds its window (P5), the deadline of a task, and the timer or limiter that
/// it uses. One value may start any number of pipelines. Each design has its own constructor, since no two are
/// configured alike.
///
/// `af` is core.async's asynchronous function. It receives an input and the port for its results. Its item is in flight
/// from the call until that port is dropped (P1, P4). It may share a task with the delivery of its results: between two
/// awaits it delays them, so it must not block on its port. Give work that blocks to [`Executors::spawn_blocking`],
/// together with the port.
pub trait Pipelines<C: Async, E: Executors>: Sized + Send + Sync + 'static {
    /// Whether results leave in the order of their inputs (P2).
    const ORDERED: bool;

    /// What an item holds from its beginning to its end, beside its port. `()` where the pipeline learns of the end
    /// from the result channel.
    type Permit: Send + 'static;

    /// The size of the window, where it is separate from the number in flight (P5): at most so many items, from the
    /// first undelivered one on. `None`: an ordered pipeline keeps an item's place until it is delivered, an unordered
    /// one until the item has ended.
    fn window(&self, parallelism: NonZeroUsize) -> Option<NonZeroUsize> {
        let _ = parallelism;
        None
    }

    /// Starts to move items from `from` through `af` to `to`, `parallelism` of them at a time, in tasks of `spawner`.
    /// Returns a future that is ready when all is delivered. The pipeline runs whether or not that is polled.
    ///
    /// # Panics
    /// Where the design is configured for a smaller parallelism, for instance with a narrower window.
    fn start<I: Message, O: Message, A, F>(
        self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static
    where
        A: Fn(I, ResultPort<C, O, Self::Permit>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static;
}
