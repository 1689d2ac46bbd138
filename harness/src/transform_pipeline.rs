//! Pipelines that transform: core.async's `pipeline` and `pipeline-blocking`. Their workers apply a function to each
//! value from a channel.

use std::future::Future;
use std::num::NonZeroUsize;

use crate::channel::{Async, Emit, Message, Panic};
use crate::executor::Executors;
use crate::pipeline::AtEnd;

/// A design of pipelines that call a function for each item, over any channel and executor (P6).
///
/// Each input is transformed by itself; no state is kept between inputs. Everything that the function emits leaves
/// together, as the results of its input. `Break` from the sink means that no further result is wanted. After a panic,
/// values emitted before it stay, and the value of `handler` follows them; `None` adds nothing.
pub trait TransformPipelines<C: Async, E: Executors>: Sized + Send + Sync + 'static {
    /// Whether results leave in the order of their inputs (P2).
    const ORDERED: bool;

    /// Whether the function may block its thread. If so, it has a thread apart from the executor's tasks, and puts each
    /// result before it continues. Otherwise it runs in a task, and all results of an input exist before the first is
    /// put.
    const MAY_BLOCK: bool;

    /// Starts to move inputs from `from` through `transform` to `to`, with `workers` concurrent calls, on the executor
    /// of `spawner`. Returns a future that is ready when all is delivered; the pipeline runs whether or not it is
    /// polled. At the end `to` is closed or left open, as `at_end` says. Once `to` is seen closed, no further input is
    /// taken (P3).
    #[expect(
        clippy::too_many_arguments,
        reason = "those of core.async's pipeline, and a spawner"
    )]
    fn start<I, O, X, H>(
        self,
        spawner: E::Spawner,
        workers: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        transform: X,
        handler: H,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static
    where
        I: Message,
        O: Message,
        X: Fn(I, Emit<'_, O>) + Send + Sync + 'static,
        H: Fn(Panic) -> Option<O> + Send + Sync + 'static;
}
