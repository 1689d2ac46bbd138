//! Pipelines that transform: core.async's `pipeline` and `pipeline-blocking`, whose workers apply a function to all that
//! comes out of a channel.

use std::future::Future;
use std::num::NonZeroUsize;

use crate::channel::{Async, Emit, Message, Panic};
use crate::executor::Executors;
use crate::pipeline::AtEnd;

/// A design of pipelines whose items are calls of a function, over any channel and executor (P6).
///
/// Each input is transformed by itself: nothing is kept from one to the next. What the function emits leaves as the
/// results of its input, together, and `Break` says that nobody wants more of them. Where it panics what it has emitted
/// stays, and what `handler` makes of the panic comes after that; `None` is nothing.
pub trait TransformPipelines<C: Async, E: Executors>: Sized + Send + Sync + 'static {
    /// Whether results leave in the order of their inputs (P2).
    const ORDERED: bool;

    /// Whether the function may hold up its thread: it has one apart from the executor's tasks, and puts each result
    /// before it goes on. Else it runs in a task, and all results of an input are there before the first is put.
    const MAY_BLOCK: bool;

    /// Starts to move inputs from `from` through `transform` to `to`, in `workers` calls at a time, on the executor of
    /// `spawner`, and answers a future that is ready when all is delivered, whether that is polled or not. `to` is closed
    /// or left open then, as `at_end` says. Once it is seen closed nothing further is taken (P3).
    #[expect(
        clippy::too_many_arguments,
        reason = "those of core.async's pipeline, and a spawner"
    )]
    fn start<I, O, X, H>(
        &self,
        spawner: E::Spawner,
        workers: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        transform: X,
        handler: H,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static + use<Self, C, E, I, O, X, H>
    where
        I: Message,
        O: Message,
        X: Fn(I, Emit<'_, O>) + Send + Sync + 'static,
        H: Fn(Panic) -> Option<O> + Send + Sync + 'static;
}
