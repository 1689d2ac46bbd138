//! P2 and P3 with several results an item, none among them, on one thread and on several: all results of an item come,
//! in their order, and those of an ordered pipeline in the order of inputs, together.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! item 0 puts 00, 01; item 1 puts 10
//! delivers 00, 10, 01 in an ordered pipeline: those of item 0 are not together
//!
//! item 0 puts nothing; item 1 puts 10
//! closes the output: an item without results was taken for the end
//! ```

use std::num::NonZeroUsize;
use std::sync::Arc;

use flowmeter_harness::executor::give_way;
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::spec::pipeline::Terms;
use flowmeter_harness::sync::world;

use super::flight::{Flight, Item, ended_source, finish, take, terms};
use super::{Case, Cases, Design, ONE, Property, Reliance, What, several};
use crate::design::pipelines::Pipelines;

pub(in super::super) const PROPERTY: Property = Property {
    name: "p2-several",
    statement: "Of several results an item, and of none, all come in their order before the output closes.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Pipelines(cases),
};

/// How many results the items have, in turn.
const RESULTS: [usize; 4] = [3, 0, 1, 2];

fn cases(design: &Design) -> Vec<Case> {
    let What::Pipelines(pipelines) = design.what else {
        return Vec::new();
    };
    let mut cases = Vec::new();
    let rooms: &[usize] = if world::name() == "loom" {
        &[1]
    } else {
        &[1, 2, 8]
    };
    for &room in rooms {
        cases.push(Case::new(format!("room for {room}"), move || {
            several_each(pipelines, ONE, room);
        }));
        if world::name() != "loom" {
            cases.push(Case::new(
                format!("room for {room}, on several threads"),
                move || several_each(pipelines, several(), room),
            ));
        }
    }
    // Many steps, and what they leave behind shows in any schedule.
    if matches!(world::name(), "std" | "sim") {
        let name = "more items of each kind than a window";
        cases.push(Case::new(name, move || many(pipelines)));
    }
    cases
}

/// More items without results than may be unfinished or undelivered, as many with one, and as many with several. None
/// keeps a place behind it.
fn many(pipelines: Pipelines) {
    const N: usize = 1;
    const EACH: [usize; 3] = [0, 1, 2];
    let terms = terms(pipelines, N, 0);
    let most = if terms.ordered {
        terms.window
    } else {
        terms.bound
    };
    let items = (most + 1) * EACH.len();
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = pipelines.on.open(1);
    let from = ended_source(pipelines.on, items);
    let work = |input: usize, mut item: Item| async move {
        for _ in 0..EACH[input % EACH.len()] {
            item.put().await;
        }
    };
    let end = flight.start(pipelines, &executor, N, (from, to), work, AtEnd::Close);
    while take(&flight, &mut results).is_some() {}
    finish(&flight, end);
    drop(executor);
    flight.judge(Terms::unbounded(pipelines.ordered(), items));
}

/// Takes the results as they come, by a consumer that is slower or faster than the items.
fn several_each(pipelines: Pipelines, threads: NonZeroUsize, room: usize) {
    let items = match world::name() {
        "std" => 24,
        "loom" => 2,
        _ => 5,
    };
    let n = if world::name() == "loom" { 1 } else { 2 };
    let gives_way = world::choose(4);
    let executor = pipelines.on.executors.with_threads(threads);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = pipelines.on.open(room);
    let from = ended_source(pipelines.on, items);
    let work = move |input: usize, mut item: Item| async move {
        if input % 2 == gives_way {
            give_way().await;
        }
        for number in 0..RESULTS[input % RESULTS.len()] {
            item.put().await;
            if gives_way == 2 && number == 0 {
                give_way().await;
            }
        }
    };
    let end = flight.start(pipelines, &executor, n, (from, to), work, AtEnd::Close);
    let mut came = 0;
    while take(&flight, &mut results).is_some() {
        came += 1;
    }
    finish(&flight, end);
    drop(executor);
    flight.judge(Terms::unbounded(pipelines.ordered(), items));
    let expected: usize = (0..items).map(|input| RESULTS[input % RESULTS.len()]).sum();
    holds_eq!(came, expected, "P2: results of items with several or none");
}
