//! Faults injected into pipelines of transforms: what happens to inputs, results and panics, and how the pipeline
//! ends.

use std::num::NonZeroUsize;
use std::ops::ControlFlow::Continue;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use flowmeter_harness::channel::{Emit, Panic};
use flowmeter_harness::pipeline::AtEnd;

use super::{executors, told};
use crate::design::executors::{Executor, Task};
use crate::design::pipelines::{Delivered, Handler, Transform, Transforming, Workers};
use crate::design::{Rx, Tx};

/// The design with one fault, on an executor that may have faults as well.
pub(super) fn lying(real: Workers) -> Workers {
    Workers {
        on: executors::hosting(real.on),
        table: Box::leak(Box::new(Lying(real.table))),
    }
}

/// Pipelines that behave like the real ones, except for one fault.
struct Lying(&'static dyn Transforming);

impl Transforming for Lying {
    fn ordered(&self) -> bool {
        self.0.ordered()
    }

    fn may_block(&self) -> bool {
        self.0.may_block()
    }

    fn start(
        &self,
        executor: &Executor,
        workers: NonZeroUsize,
        ports: (Rx<usize>, Tx<Delivered>),
        transform: Transform,
        handler: Handler,
        at_end: AtEnd,
    ) -> Task {
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
        let transform = Box::new(move |input: usize, emit: Emit<'_, Delivered>| {
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
        });
        let handler = Box::new(move |panic: Panic| {
            let instead = handler(panic);
            instead.filter(|_| !told("what stands in is dropped"))
        });
        self.0
            .start(executor, workers, ports, transform, handler, at_end)
    }
}
