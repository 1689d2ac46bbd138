//! Lies about pipelines that transform: what becomes of inputs, of results and of panics, and how it ends.

use std::future::Future;
use std::num::NonZeroUsize;
use std::ops::ControlFlow::Continue;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use flowmeter_harness::channel::{Async, Emit, Message, Panic};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::transform_pipeline::TransformPipelines;

use super::{executors, told};

/// A pipeline that does what `P` does, but for one lie.
#[derive(Default)]
pub(super) struct Lying<P>(P);

/// On an executor that may lie as well.
impl<C: Async, E: Executors, P: TransformPipelines<C, E>> TransformPipelines<C, executors::Lying<E>>
    for Lying<P>
{
    const ORDERED: bool = P::ORDERED;
    const MAY_BLOCK: bool = P::MAY_BLOCK;

    fn start<I, O, X, H>(
        &self,
        executors::Spawner(spawner): executors::Spawner<E::Spawner>,
        workers: NonZeroUsize,
        from: C::Rx<I>,
        to: C::Tx<O>,
        transform: X,
        handler: H,
        at_end: AtEnd,
    ) -> impl Future<Output = ()> + Send + 'static + use<C, E, P, I, O, X, H>
    where
        I: Message,
        O: Message,
        X: Fn(I, Emit<'_, O>) + Send + Sync + 'static,
        H: Fn(Panic) -> Option<O> + Send + Sync + 'static,
    {
        let workers = if told("one call more at a time") {
            workers.saturating_add(1)
        } else {
            workers
        };
        let at_end = match (at_end, told("the output is ended otherwise")) {
            (AtEnd::Close, true) => AtEnd::LeaveOpen,
            (AtEnd::LeaveOpen, true) => AtEnd::Close,
            (at_end, false) => at_end,
        };
        let transform = move |input, emit: Emit<'_, O>| {
            if told("an input comes to nothing") {
                return;
            }
            let returned = catch_unwind(AssertUnwindSafe(|| {
                transform(input, &mut |result| {
                    if told("a result is dropped") {
                        return Continue(());
                    }
                    emit(result)
                });
            }));
            if let Err(panic) = returned
                && !told("a panic is swallowed")
            {
                resume_unwind(panic);
            }
        };
        let handler = move |panic| {
            let instead = handler(panic);
            instead.filter(|_| !told("what stands in is dropped"))
        };
        self.0
            .start(spawner, workers, from, to, transform, handler, at_end)
    }
}
