//! Pipelines: an asynchronous function applied to all that comes out of a channel, n at a time.

use std::future::Future;
use std::num::NonZeroUsize;

use crate::channel::{Async, Callback, Channels, Message, PutError};
use crate::executor::Executors;

/// What becomes of the output when the input has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// Close it, once everything is delivered (P3).
    Close,
    /// Leave it open.
    LeaveOpen,
}

/// Where an asynchronous function puts the results of one input: none, one or many.
///
/// Dropping it closes the result channel, by unwinding too, so that an item ends visibly on channels
/// that do not notice dropped halves. A family whose close loses what is buffered (it does not claim
/// [`Claim::KeepsBuffered`](crate::caps::Claim::KeepsBuffered)) needs a rendezvous as result channel.
#[derive(Debug)]
pub struct ResultPort<C: Channels, O: Message, P = ()> {
    results: C::Tx<O>,
    /// Dropped when the channel is closed already.
    _permit: P,
}

impl<C: Channels, O: Message> ResultPort<C, O> {
    /// A port into `results`, whose channel has no other producer.
    pub fn new(results: C::Tx<O>) -> Self {
        ResultPort::holding(results, ())
    }
}

impl<C: Channels, O: Message, P> ResultPort<C, O, P> {
    /// [`ResultPort::new`], with something that is dropped once the port has closed the channel: whoever made it
    /// learns that way that the item has ended, also while nobody takes its results.
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
        // `false`: the family ends channels by dropping halves only, and the half goes next.
        C::close(&self.results);
    }
}

/// A design of pipelines, over any channel and executor.
///
/// The value is the configured design: its window (P5), the deadline of a task, the timer or limiter it
/// uses live in it, and one value may start any number of pipelines. How it is made is the design's own,
/// since no two are configured alike.
///
/// `af` is core.async's asynchronous function: it gets an input and the port for its results, and its
/// item is in flight from the call until that port is dropped (P1, P4). It may share a task with whatever delivers its
/// results: between two awaits it holds these up, and must not block on its port. Work that blocks belongs to
/// [`Executors::spawn_blocking`], with the port.
///
/// Channels that only block will have a sibling of this trait, whose functions are not futures.
pub trait Pipelines<C: Async, E: Executors>: Sized + Send + Sync + 'static {
    /// Whether results leave in the order of their inputs (P2).
    const ORDERED: bool;

    /// What an item holds from its beginning to its end, beside its port; `()` where the pipeline learns of the end
    /// from the result channel.
    type Permit: Send + 'static;

    /// How many items there are at most of which not all is delivered, from the first such item on, where that is
    /// apart from how many are in flight (P5). `None`: an ordered pipeline keeps an item's place until it is
    /// delivered, an unordered one until it has ended.
    fn window(&self, parallelism: NonZeroUsize) -> Option<NonZeroUsize> {
        let _ = parallelism;
        None
    }

    /// Starts to move items from `from` through `af` to `to`, `parallelism` of them at a time, in tasks
    /// of `spawner`, and answers a future that is ready when all is delivered. The pipeline runs whether that
    /// is polled or not, and borrows nothing from the design.
    ///
    /// # Panics
    /// Where the design is configured for less than that parallelism: a window narrower than it, for instance.
    fn start<I: Message, O: Message, A, F>(
        &self,
        spawner: E::Spawner,
        parallelism: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: A,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static + use<Self, C, E, I, O, A, F>
    where
        A: Fn(I, ResultPort<C, O, Self::Permit>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static;
}
