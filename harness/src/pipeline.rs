//! Pipelines: an asynchronous function applied to all that comes out of a channel, n at a time.

use std::future::Future;
use std::num::NonZeroUsize;

use crate::channel::{Async, Message};
use crate::executor::Executors;

/// What becomes of the output when the input has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// Close it, once everything is delivered (P3).
    Close,
    /// Leave it open.
    LeaveOpen,
}

/// A design of pipelines, over any channel and executor.
///
/// `af` is core.async's asynchronous function: it gets an input and the half to put its results into
/// (none, one or many), and its item is in flight from the call until that half is closed or dropped
/// (P1). A design that sleeps takes its timer as a type parameter of its own.
pub trait Pipelines<C: Async, E: Executors>: Sized + Send + Sync + 'static {
    /// Whether results leave in the order of their inputs (P2).
    const ORDERED: bool;

    /// Starts to move items from `from` through `af` to `to`, `parallelism` of them at a time, and
    /// answers a future that is ready when all is delivered.
    fn start<I: Message, O: Message, F>(
        executor: &E,
        parallelism: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        af: impl Fn(I, C::Tx<O>) -> F + Send + Sync + 'static,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static
    where
        F: Future<Output = ()> + Send + 'static;
}
