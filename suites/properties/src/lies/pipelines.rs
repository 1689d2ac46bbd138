//! Faults injected into pipelines: how many items are in flight, which are processed, and how the pipeline ends.

use std::future::pending;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Buffer, Offered, Polled};
use flowmeter_harness::executor::Spawn;
use flowmeter_harness::pipeline::AtEnd;

use super::{executors, parallel_maps, told, workers};
use crate::design::executors::{Executor, Task};
use crate::design::pipelines::{Delivered, Design, Moving, Pipelines, What, Work};
use crate::design::{Rx, Tx};

/// The design with one fault, on an executor that may have faults as well.
pub(crate) fn lying(design: Design) -> Design {
    let what = match design.what {
        What::Pipelines(real) => What::Pipelines(Pipelines {
            on: executors::hosting(real.on),
            table: Box::leak(Box::new(Lying(real.table))),
            ..real
        }),
        What::Workers(real) => What::Workers(workers::lying(real)),
        What::ParallelMaps(real) => What::ParallelMaps(parallel_maps::lying(real)),
    };
    Design { what, ..design }
}

/// Pipelines that behave like the real ones, except for one fault.
struct Lying(&'static dyn Moving);

impl Moving for Lying {
    fn ordered(&self) -> bool {
        self.0.ordered()
    }

    fn window(&self, parallelism: NonZeroUsize) -> Option<NonZeroUsize> {
        self.0.window(parallelism)
    }

    fn start(
        &self,
        executor: &Executor,
        parallelism: NonZeroUsize,
        (from, to): (Rx<usize>, Tx<Delivered>),
        work: Work,
        at_end: AtEnd,
    ) -> Task {
        let from = if told("inputs are turned round") {
            turned_round(from)
        } else {
            from
        };
        let parallelism = if told("one item more is in flight") {
            parallelism.saturating_add(1)
        } else if told("many items more are in flight") {
            parallelism.saturating_add(64)
        } else if told("one item is in flight") {
            NonZeroUsize::MIN
        } else {
            parallelism
        };
        let at_end = match (at_end, told("the output is ended otherwise")) {
            (AtEnd::Close, true) => AtEnd::LeaveOpen,
            (AtEnd::LeaveOpen, true) => AtEnd::Close,
            (at_end, false) => at_end,
        };
        let work: Work = Box::new(move |item, port| {
            let skipped = told("an item is skipped");
            let done = (!skipped).then(|| work(item, port));
            let sleeps = told("an item is begun and not run");
            Box::pin(async move {
                if sleeps {
                    let _begun = done;
                    return pending().await;
                }
                if let Some(done) = done {
                    done.await;
                }
            })
        });
        let early = told("an end is told too early").then(|| executor.0.itself().spawner());
        let end = (self.0).start(executor, parallelism, (from, to), work, at_end);
        Box::pin(async move {
            match early {
                Some(spawner) => spawner.spawn(end),
                None => end.await,
            }
        })
    }
}

/// The values in that channel, the last first: as many as a model has.
fn turned_round(mut from: Rx<usize>) -> Rx<usize> {
    let mut inputs = Vec::new();
    let is_closed = loop {
        match from.poll() {
            Polled::Done(input) => inputs.push(input),
            rest => break matches!(rest, Polled::Closed),
        }
    };
    if !is_closed {
        // More values may be put into it, so it has to be that channel.
        return from;
    }
    let room = Buffer::fixed(inputs.len().max(1));
    let (mut tx, rx) = from.channels().open(room).expect("models have some");
    for input in inputs.into_iter().rev() {
        assert!(matches!(tx.offer(input), Offered::Done));
    }
    tx.close();
    rx
}
