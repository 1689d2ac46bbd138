//! Faults injected into parallel maps: what is taken, begun and handed over, and what happens when the consumer is
//! gone.

use std::future::ready;
use std::mem::forget;
use std::num::NonZeroUsize;

use flowmeter_harness::parallel_map::{self, Outcome, Throttle, Unfinished};

use super::{executors, told};
use crate::design::executors::Executor;
use crate::design::pipelines::{Function, Inputs, Mapping, Outcomes, ParallelMaps, Throttled};

/// The design with one fault, on an executor that may have faults as well.
pub(super) fn lying(real: ParallelMaps) -> ParallelMaps {
    ParallelMaps {
        on: executors::hosting(real.on),
        table: Box::leak(Box::new(Lying(real.table))),
    }
}

/// Parallel maps that behave like the real ones, except for one fault.
struct Lying(&'static dyn Mapping);

impl Mapping for Lying {
    fn lazy(&self) -> bool {
        self.0.lazy()
    }

    fn start(
        &self,
        executor: &Executor,
        parallelism: NonZeroUsize,
        throttle: Throttled,
        mut inputs: Inputs,
        function: Function,
    ) -> Outcomes {
        let parallelism = if told("one input more is in flight") {
            parallelism.saturating_add(1)
        } else if told("one input is in flight") {
            NonZeroUsize::MIN
        } else {
            parallelism
        };
        let throttle = Throttled::of(Asked(throttle));
        let ahead = if told("an input is taken ahead") {
            inputs.next()
        } else {
            None
        };
        let inputs = ahead.into_iter().chain(inputs);
        let inputs = Box::new(inputs.filter(|_| !told("an input is skipped")));
        let real = self
            .0
            .start(executor, parallelism, throttle, inputs, function);
        Outcomes::of(Handed(Some(real)))
    }
}

/// A throttle that a fault may bypass.
struct Asked(Throttled);

impl Throttle for Asked {
    async fn pass(&self) {
        if told("a throttle is not asked") {
            return ready(()).await;
        }
        self.0.pass().await;
        if told("a throttle is asked twice") {
            self.0.pass().await;
        }
    }
}

/// Outcomes of which one may be replaced.
struct Handed(
    /// `None` only while it is dropped.
    Option<Outcomes>,
);

impl parallel_map::Outcomes<usize> for Handed {
    async fn completed(&mut self) -> Option<Outcome<usize>> {
        if told("an end is told too early") {
            return None;
        }
        let real = self.0.as_mut().expect("it is there until it is dropped");
        let outcome = if told("an outcome is lost") {
            real.completed().await;
            real.completed().await
        } else {
            real.completed().await
        };
        match outcome {
            Some(Ok(_)) if told("a result is told as none") => Some(Err(Unfinished { input: 0 })),
            Some(Err(Unfinished { input })) if told("another input is told to have no result") => {
                Some(Err(Unfinished { input: input + 1 }))
            }
            None if told("an outcome comes after the end") => Some(Err(Unfinished { input: 0 })),
            outcome => outcome,
        }
    }
}

impl Drop for Handed {
    fn drop(&mut self) {
        let real = self.0.take();
        if told("the loop is not told that nothing is wanted") {
            forget(real);
        }
    }
}
