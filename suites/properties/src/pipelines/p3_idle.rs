//! P3 with an idle input on two threads of an executor, beside a pipeline that is busy: what comes late to the idle one
//! is delivered, its end is told, and where its output closes it takes nothing further and ends.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! thread 1                          thread 2
//! busy pipeline                     idle pipeline waits for input
//! puts a value for the idle one
//!                                   looks, sees none
//!                                   leaves its waker: too late, and it waits for ever
//!
//!                                   idle pipeline, its output is closed
//!                                   takes one item, and sees the close
//!                                   waits for another item for ever
//! ```

use std::sync::Arc;

use flowmeter_harness::channel::Offered;
use flowmeter_harness::executor::give_way;
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::spec::pipeline::{Event, Terms};
use flowmeter_harness::sync::world;

use super::flight::{Flight, Item, ended_source, finish, source, take};
use super::{Case, Cases, Design, Property, Reliance, What, several};
use crate::design::pipelines::Pipelines;

pub(in super::super) const PROPERTY: Property = Property {
    name: "p3-idle",
    statement: "A pipeline with an idle input goes on when a value comes, and ends when its input or its output closes, beside a busy one.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Pipelines(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::Pipelines(pipelines) = design.what else {
        return Vec::new();
    };
    // Several threads and an idle input are more than loom can explore.
    if world::name() == "loom" {
        return Vec::new();
    }
    vec![
        Case::new("an output that is closed", move || unwanted(pipelines)),
        Case::new("beside a busy one", move || beside_a_busy_one(pipelines)),
        Case::new("an input that closes late", move || {
            closes_late(pipelines);
        }),
    ]
}

async fn one_result(_input: usize, mut item: Item) {
    give_way().await;
    item.put().await;
}

/// The items of the busy pipeline bring the idle one its values.
fn beside_a_busy_one(pipelines: Pipelines) {
    let items = if world::name() == "std" { 8 } else { 2 };
    let executor = pipelines.on.executors.with_threads(several());
    let [busy, idle] = [(); 2].map(|()| Arc::new(Flight::default()));
    let (brings, from) = pipelines.on.open::<usize>(items);
    let (to, mut results) = pipelines.on.open(1);
    let idle_end = idle.start(
        pipelines,
        &executor,
        2,
        (from, to),
        one_result,
        AtEnd::Close,
    );
    let (busy_to, mut busy_results) = pipelines.on.open(items);
    // A producer of its own for each item: core.async's has more than one in flight.
    let own: Option<Vec<_>> = (0..items).map(|_| brings.another().map(Some)).collect();
    let Some(own) = own else { return };
    let own = Arc::new(std::sync::Mutex::new(own));
    let work = move |input: usize, mut item: Item| {
        // No operation of a world happens while the lock is held.
        let mine = own.lock().expect("no thread panics")[input].take();
        async move {
            let mut mine = mine.expect("an input is taken once");
            assert_eq!(mine.offer(input), Offered::Done, "there is room");
            drop(mine);
            item.put().await;
        }
    };
    let from = ended_source(pipelines.on, items);
    let busy_end = busy.start(pipelines, &executor, 1, (from, busy_to), work, AtEnd::Close);
    for _ in 0..items {
        let came = take(&idle, &mut results);
        holds!(came.is_some(), "P3: the output of an idle input was closed");
    }
    while take(&busy, &mut busy_results).is_some() {}
    finish(&busy, busy_end);
    brings.close();
    drop(brings);
    take(&idle, &mut results);
    finish(&idle, idle_end);
    drop(executor);
    busy.judge(Terms::unbounded(pipelines.ordered(), items));
    // The items of the busy one bring their values in any order.
    idle.judge(Terms::unbounded(false, items));
}

/// The input is idle, one value comes, and then it closes from another thread.
fn closes_late(pipelines: Pipelines) {
    let executor = pipelines.on.executors.with_threads(several());
    let flight = Arc::new(Flight::default());
    let (mut input, from) = pipelines.on.open::<usize>(1);
    let (to, mut results) = pipelines.on.open(1);
    let end = flight.start(
        pipelines,
        &executor,
        2,
        (from, to),
        one_result,
        AtEnd::Close,
    );
    let other = world::spawn(move || {
        world::perturb();
        assert_eq!(input.offer(0), Offered::Done, "there is room");
        world::perturb();
        input.close();
        drop(input);
    });
    while take(&flight, &mut results).is_some() {}
    finish(&flight, end);
    world::join(other);
    drop(executor);
    flight.judge(Terms::unbounded(pipelines.ordered(), 1));
}

/// One item is refused, and no other ever arrives. Workers on several threads wait for input, or are about to.
fn unwanted(pipelines: Pipelines) {
    const N: usize = 3;
    let executor = pipelines.on.executors.with_threads(several());
    let flight = Arc::new(Flight::default());
    let (_open, from) = source(pipelines.on, 1);
    let (to, mut results) = pipelines.on.open(1);
    flight.write(Event::Unwanted);
    results.close();
    drop(results);
    let end = flight.start(
        pipelines,
        &executor,
        N,
        (from, to),
        one_result,
        AtEnd::Close,
    );
    // A take that keeps waiting is a deadlock here.
    finish(&flight, end);
    drop(executor);
    flight.judge(Terms::unbounded(pipelines.ordered(), 1));
    holds_eq!(flight.calls(), 1, "P3: one item was there");
}
