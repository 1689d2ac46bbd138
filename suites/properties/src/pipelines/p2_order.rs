//! P2: ordered pipelines deliver in the order of their inputs, the others in the order of completion.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! ordered, item 1 completes before item 0
//! delivers the result of 1, then that of 0
//!
//! unordered, item 0 waits until the result of 1 is delivered
//! delivers nothing: the result of 1 waits behind 0
//! ```

use std::num::NonZeroUsize;
use std::sync::Arc;

use flowmeter_harness::executor::give_way;
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::spec::pipeline::Terms;
use flowmeter_harness::sync::world;

use super::super::gate::Gate;
use super::flight::{Flight, Item, drain, ended_source, finish, take};
use super::{Case, Cases, Design, ONE, Property, Reliance, What, several};
use crate::design::pipelines::Pipelines;

pub(in super::super) const PROPERTY: Property = Property {
    name: "p2-order",
    statement: "Results leave in the order of inputs where that is claimed, else in the order of completion.",
    relied_on_by: Reliance::All,
    cases: Cases::Pipelines(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::Pipelines(pipelines) = design.what else {
        return Vec::new();
    };
    if pipelines.ordered() {
        vec![
            Case::new("the second item is done first", move || {
                second_first(pipelines)
            }),
            Case::new("items as they come", move || as_they_come(pipelines, ONE)),
            Case::new("items as they come, on several threads", move || {
                as_they_come(pipelines, several());
            }),
        ]
    } else {
        vec![
            Case::new("a slow head", move || slow_head(pipelines, ONE)),
            Case::new("a slow head, on several threads", move || {
                slow_head(pipelines, several());
            }),
        ]
    }
}

/// The head waits until the item behind it has a result.
fn second_first(pipelines: Pipelines) {
    let behind = Gate::default();
    let work = move |input, mut item: Item| {
        let behind = behind.clone();
        async move {
            if input == 0 {
                behind.pass().await;
            }
            item.put().await;
            if input == 1 {
                behind.open();
                item.put().await;
            }
        }
    };
    delivers(pipelines, ONE, 3, work);
}

fn as_they_come(pipelines: Pipelines, threads: NonZeroUsize) {
    let items = match world::name() {
        "std" => 32,
        "loom" if threads > ONE => 2,
        _ => 4,
    };
    let work = |input, mut item: Item| async move {
        // Alternating: every other item completes sooner than its predecessor.
        if input % 2 == 0 {
            give_way().await;
        }
        item.put().await;
    };
    delivers(pipelines, threads, items, work);
}

fn delivers<F>(
    pipelines: Pipelines,
    threads: NonZeroUsize,
    items: usize,
    work: impl Fn(usize, Item) -> F + Send + Sync + 'static,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let executor = pipelines.on.executors.with_threads(threads);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = pipelines.on.open(2 * items);
    let from = ended_source(pipelines.on, items);
    let end = flight.start(pipelines, &executor, 2, (from, to), work, AtEnd::Close);
    finish(&flight, end);
    drop(executor);
    let _ = drain(&flight, &mut results);
    flight.judge(Terms::unbounded(pipelines.ordered(), items));
}

/// The head waits until the item behind it has been delivered.
fn slow_head(pipelines: Pipelines, threads: NonZeroUsize) {
    let executor = pipelines.on.executors.with_threads(threads);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = pipelines.on.open(2);
    let slow = Gate::default();
    let held = slow.clone();
    let work = move |input, mut item: Item| {
        let held = held.clone();
        async move {
            if input == 0 {
                held.pass().await;
            }
            item.put().await;
        }
    };
    let from = ended_source(pipelines.on, 2);
    let end = flight.start(pipelines, &executor, 2, (from, to), work, AtEnd::Close);
    // Taken before the head has a result.
    take(&flight, &mut results);
    slow.open();
    finish(&flight, end);
    drop(executor);
    let _ = drain(&flight, &mut results);
    flight.judge(Terms::unbounded(pipelines.ordered(), 2));
}
