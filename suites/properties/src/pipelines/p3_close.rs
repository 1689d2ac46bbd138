//! P3: the output closes after the last delivery, unless the pipeline is to leave it open. Once the output is seen
//! closed, the pipeline takes no further input, and the items in flight end.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! pipeline                    consumer
//! delivers the result of 0
//! closes the output
//!                             take -> closed: the result of 1 is missing
//!
//!                             closes the output
//! puts the result of 0: closed
//! takes item 1 and calls af(1)
//! ```

use std::iter;
use std::num::NonZeroUsize;
use std::sync::Arc;

use flowmeter_harness::channel::{Offered, Polled};
use flowmeter_harness::executor::give_way;
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::spec::pipeline::{Event, Terms};
use flowmeter_harness::sync::world;

use super::super::gate::{Gate, quiesce};
use super::flight::{Flight, Item, come_to_rest, drain, ended_source, finish, source, take, terms};
use super::{Case, Cases, Design, ONE, Property, Reliance, What, several};
use crate::design::pipelines::Pipelines;

pub(in super::super) const PROPERTY: Property = Property {
    name: "p3-close",
    statement: "The output closes after the last delivery; nothing is taken once it is seen closed.",
    relied_on_by: Reliance::All,
    cases: Cases::Pipelines(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::Pipelines(pipelines) = design.what else {
        return Vec::new();
    };
    let mut cases = vec![Case::new("a consumer that takes all", move || {
        closes(pipelines)
    })];
    for at_end in [AtEnd::Close, AtEnd::LeaveOpen] {
        let name = format!("{at_end:?}");
        cases.push(Case::new(name, move || ends(pipelines, ONE, at_end)));
    }
    cases.push(Case::new("Close, on several threads", move || {
        ends(pipelines, several(), AtEnd::Close);
    }));
    cases.push(Case::new("no input", move || nothing(pipelines)));
    cases.push(Case::new("an input that closes in the middle", move || {
        input_closes(pipelines);
    }));
    // Loom has no room for so many items.
    if world::name() != "loom" {
        let name = "an output that closes in the middle";
        cases.push(Case::new(name, move || {
            output_closes(pipelines);
        }));
    }
    for n in 1..=2 {
        let name = format!("an output that is closed, n = {n}");
        cases.push(Case::new(name, move || {
            unwanted(pipelines, ONE, n);
        }));
    }
    cases.push(Case::new(
        "an output that is closed, n = 1, on several threads",
        move || unwanted(pipelines, several(), 1),
    ));
    // Loom has no room for so many threads.
    if world::name() != "loom" {
        cases.push(Case::new(
            "an executor that goes as items wake",
            move || {
                executor_goes(pipelines);
            },
        ));
    }
    // Loom has no room for the tasks that wait.
    if world::name() != "loom" && tells_producers(pipelines) {
        cases.push(Case::new("an input that is let go", move || {
            lets_go(pipelines);
        }));
    }
    cases.push(Case::new(
        "an output that is closed, an idle input",
        move || {
            idle_input(pipelines);
        },
    ));
    cases
}

/// It yields first: otherwise one loop could run all items in turn.
async fn one_result(_input: usize, mut item: Item) {
    give_way().await;
    item.put().await;
}

/// Deliveries wait for room, and the close comes after all of them.
fn closes(pipelines: Pipelines) {
    const ITEMS: usize = 3;
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = pipelines.on.open(1);
    let from = ended_source(pipelines.on, ITEMS);
    let end = flight.start(
        pipelines,
        &executor,
        2,
        (from, to),
        one_result,
        AtEnd::Close,
    );
    while take(&flight, &mut results).is_some() {}
    finish(&flight, end);
    drop(executor);
    flight.judge(Terms::unbounded(pipelines.ordered(), ITEMS));
}

/// When the pipeline reports its end, all results are delivered and the output is closed or left open.
fn ends(pipelines: Pipelines, threads: NonZeroUsize, at_end: AtEnd) {
    const ITEMS: usize = 2;
    let executor = pipelines.on.executors.with_threads(threads);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = pipelines.on.open(ITEMS);
    let stays = to.another();
    let from = ended_source(pipelines.on, ITEMS);
    let end = flight.start(pipelines, &executor, 2, (from, to), one_result, at_end);
    finish(&flight, end);
    let (_, rest) = drain(&flight, &mut results);
    drop(executor);
    flight.judge(Terms::unbounded(pipelines.ordered(), ITEMS));
    match at_end {
        AtEnd::Close => holds_eq!(rest, Polled::Closed, "P3: the output was not closed"),
        AtEnd::LeaveOpen if stays.is_some() => {
            holds_eq!(rest, Polled::WouldWait, "P3: the output was not left open");
        }
        AtEnd::LeaveOpen => {}
    }
}

fn nothing(pipelines: Pipelines) {
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (ends, from) = pipelines.on.open::<usize>(1);
    let (to, mut results) = pipelines.on.open(1);
    let end = flight.start(
        pipelines,
        &executor,
        2,
        (from, to),
        one_result,
        AtEnd::Close,
    );
    ends.close();
    drop(ends);
    take(&flight, &mut results);
    finish(&flight, end);
    drop(executor);
    flight.judge(Terms::unbounded(pipelines.ordered(), 0));
}

/// The input closes while the maximum number of items is in flight. All of them are delivered, and then the output
/// closes.
fn input_closes(pipelines: Pipelines) {
    const N: usize = 1;
    let items = N + pipelines.extra;
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let held = Gate::default();
    let pass = held.clone();
    let work = move |_, mut item: Item| {
        let pass = pass.pass();
        async move {
            pass.await;
            item.put().await;
        }
    };
    let (input, from) = source(pipelines.on, items);
    let (to, mut results) = pipelines.on.open(items);
    let end = flight.start(pipelines, &executor, N, (from, to), work, AtEnd::Close);
    come_to_rest(pipelines.on, &executor, || flight.now() == items);
    input.close();
    drop(input);
    held.open();
    finish(&flight, end);
    let (came, rest) = drain(&flight, &mut results);
    drop(executor);
    flight.judge(terms(pipelines, N, items));
    let seen = (came.len(), rest);
    holds_eq!(
        seen,
        (items, Polled::Closed),
        "P3: results of an input that closed, and how it goes on"
    );
}

/// The consumer takes one result and closes the output while the maximum number of items is in flight. After that
/// each of these takes at most one further item, and all end.
fn output_closes(pipelines: Pipelines) {
    const N: usize = 1;
    let promised = terms(pipelines, N, 0);
    let before = if pipelines.ordered() {
        promised.window
    } else {
        promised.bound
    };
    // The items in flight at the close, one that was delivered, one for each afterwards, and more.
    let items = 2 * before + 3;
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (_open, from) = source(pipelines.on, items);
    let (to, mut results) = pipelines.on.open(1);
    // Without yielding: there is one loop.
    let work = |_, mut item: Item| async move { item.put().await };
    let end = flight.start(pipelines, &executor, N, (from, to), work, AtEnd::Close);
    let first = take(&flight, &mut results);
    results.close();
    drop(results);
    // Only now: until the close a result may have been accepted.
    flight.write(Event::Unwanted);
    finish(&flight, end);
    drop(executor);
    flight.judge(Terms {
        inputs: items,
        ..promised
    });
    holds!(first.is_some(), "P3: no result of an output that is wanted");
}

/// The output is closed from the start, and each item has three results. A worker that runs one item at a time sees
/// the close at that item and begins no other. So at most n + k items are taken, and all of them end.
fn unwanted(pipelines: Pipelines, threads: NonZeroUsize, n: usize) {
    let items = n + pipelines.extra + 2;
    let executor = pipelines.on.executors.with_threads(threads);
    let flight = Arc::new(Flight::default());
    let (_open, from) = source(pipelines.on, items);
    let left = from.another();
    let (to, mut results) = pipelines.on.open(1);
    flight.write(Event::Unwanted);
    results.close();
    drop(results);
    // One result is taken, one has room in the buffer, and one waits for a take.
    let work = |_, mut item: Item| async move {
        give_way().await;
        for _ in 0..3 {
            item.put().await;
        }
    };
    let end = flight.start(pipelines, &executor, n, (from, to), work, AtEnd::Close);
    finish(&flight, end);
    drop(executor);
    flight.judge(terms(pipelines, n, items));
    let taken = match left {
        Some(mut left) => {
            items - iter::from_fn(|| matches!(left.poll(), Polled::Done(_)).then_some(())).count()
        }
        None => flight.calls(),
    };
    holds!(
        taken <= n + pipelines.extra,
        "P3: {taken} items were taken where n = {n}, though none was wanted"
    );
}

/// One item is refused, and no other ever arrives. The workers that wait for input have to be told to end.
fn idle_input(pipelines: Pipelines) {
    // Several workers wait behind the one that sees the close.
    let n = match world::name() {
        "std" => 4,
        "loom" => 2,
        _ => 3,
    };
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (_open, from) = source(pipelines.on, 1);
    let (to, mut results) = pipelines.on.open(1);
    flight.write(Event::Unwanted);
    results.close();
    drop(results);
    let end = flight.start(
        pipelines,
        &executor,
        n,
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

/// Whether the channels tell a producer that no consumer is left.
fn tells_producers(pipelines: Pipelines) -> bool {
    let (mut tx, rx) = pipelines.on.open::<usize>(1);
    drop(rx);
    matches!(tx.offer(0), Offered::Closed(_))
}

/// One item is refused, and one goes on. A producer is told at once that no further input is wanted.
fn lets_go(pipelines: Pipelines) {
    const N: usize = 2;
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let gates = [(); N].map(|()| Gate::default());
    let passes = gates.clone();
    let work = move |input: usize, mut item: Item| {
        let pass = passes[input].pass();
        async move {
            pass.await;
            item.put().await;
        }
    };
    let (mut input, from) = source(pipelines.on, N);
    let (to, mut results) = pipelines.on.open(1);
    let end = flight.start(pipelines, &executor, N, (from, to), work, AtEnd::Close);
    come_to_rest(pipelines.on, &executor, || flight.calls() == N);
    flight.write(Event::Unwanted);
    results.close();
    drop(results);
    let [refused, held] = gates;
    refused.open();
    come_to_rest(pipelines.on, &executor, || flight.now() == 1);
    let told = input.offer(N);
    held.open();
    finish(&flight, end);
    drop(executor);
    flight.judge(Terms::unbounded(pipelines.ordered(), N));
    holds_eq!(
        told,
        Offered::Closed(N),
        "P3: the input is kept where nothing more is wanted of it"
    );
}

/// Another thread wakes the items while their pipeline is dropped. They end, and so does the output.
fn executor_goes(pipelines: Pipelines) {
    const ITEMS: usize = 2;
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = pipelines.on.open(ITEMS);
    let (_open, from) = source(pipelines.on, ITEMS);
    let gates = [(); ITEMS].map(|()| Gate::default());
    let passes = gates.clone();
    let work = move |input: usize, mut item: Item| {
        let pass = passes[input].pass();
        async move {
            pass.await;
            item.put().await;
        }
    };
    let end = flight.start(pipelines, &executor, ITEMS, (from, to), work, AtEnd::Close);
    quiesce(pipelines.on.channels, || flight.now() == ITEMS);
    let wakes = world::spawn(move || gates.iter().for_each(Gate::open));
    drop(executor);
    world::join(wakes);
    world::block_on(end);
    let (_, rest) = drain(&flight, &mut results);
    let left = (rest, flight.now());
    holds_eq!(
        left,
        (Polled::Closed, 0),
        "P3: a pipeline whose executor is gone: its output, and its items in flight"
    );
}
