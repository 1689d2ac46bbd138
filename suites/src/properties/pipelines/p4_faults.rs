//! P4: an item that panics or gives nothing ends alone, and one that never ends holds its slot and no more.

use std::future::pending;
use std::panic::resume_unwind;
use std::sync::Arc;

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines};
use flowmeter_harness::spec::pipeline::{Event, Terms};
use flowmeter_harness::sync::World;

use super::super::gate::panics_of;
use super::flight::{
    Flight, ItemOf, come_to_rest, drain, ended_source, finish, finishes, open, source, start, take,
    terms,
};
use super::{Case, ONE, PATIENCE, Property, Reliance};

pub(in super::super) const PROPERTY: Property = Property {
    name: "p4-faults",
    statement: "An item that panics or gives nothing ends alone; one that never ends holds its slot only.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<P, C, E, W>(extra: usize) -> Vec<Case>
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let mut cases = vec![
        Case::new("an item without results", without_results::<P, C, E, W>),
        Case::new("an item that never ends", move || {
            never_ends::<P, C, E, W>(extra)
        }),
    ];
    // Panics are the checkers' own language in the other worlds.
    if W::name() == "std" {
        for n in 1..=2 {
            let name = format!("n = {n}, items that panic");
            cases.push(Case::new(name, move || panicking::<P, C, E, W>(n)));
        }
    }
    // The last: it takes long to see that a pipeline which is at fault in the others as well does not end here.
    let name = "work that goes on when its item has ended";
    cases.push(Case::new(name, || goes_on::<P, C, E, W>()));
    cases
}

fn without_results<P, C, E, W>()
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let work = |input, mut item: ItemOf<P, C, E>| async move {
        if input != 1 {
            item.put().await;
        }
    };
    let executor = E::with_threads(ONE);
    let seen = all_results::<P, C, E, W, _>(&executor, 1, 3, work);
    drop(executor);
    holds_eq!(
        seen,
        [0, 2],
        "P4: an item without results took others along"
    );
}

/// The function drops its port and never returns: its slot is free, and nobody waits for it in the end.
fn goes_on<P, C, E, W>()
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let work = |_, mut item: ItemOf<P, C, E>| async move {
        item.put().await;
        drop(item);
        pending::<()>().await;
    };
    const ITEMS: usize = 3;
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = open::<C, _>(ITEMS);
    let from = ended_source::<C>(ITEMS);
    let end = start::<P, C, E, _>(&executor, 1, (from, to), &flight, work, AtEnd::Close);
    let ended = finishes::<C, E, W>(&executor, &flight, end);
    let came = drain::<C>(&flight, &mut results).0.len();
    drop(executor);
    flight.judge(Terms::unbounded(P::ORDERED, ITEMS));
    holds_eq!(
        (came, ended),
        (ITEMS, true),
        "P4: results came beside work that goes on, and whether the pipeline ended"
    );
}

/// One panics in the call of `af`, one after its result.
fn panicking<P, C, E, W>(n: usize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let work = |input, mut item: ItemOf<P, C, E>| {
        if input == 0 {
            resume_unwind(Box::new("an item's own fault"));
        }
        async move {
            item.put().await;
            if input == 1 {
                resume_unwind(Box::new("an item's own fault"));
            }
        }
    };
    let executor = E::with_threads(ONE);
    let mut seen = all_results::<P, C, E, W, _>(&executor, n, 4, work);
    if !P::ORDERED {
        seen.sort_unstable();
    }
    let panics = panics_of::<E, W>(&executor, 2, PATIENCE);
    drop(executor);
    holds_eq!(seen, [1, 2, 3], "P4: an item that panics took others along");
    holds_eq!(panics, 2, "P4: panics of items were not counted");
}

/// What a pipeline delivers; where n = 1 there is one order only.
fn all_results<P, C, E, W, F>(
    executor: &E,
    n: usize,
    items: usize,
    work: impl Fn(usize, ItemOf<P, C, E>) -> F + Send + Sync + 'static,
) -> Vec<usize>
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
    F: Future<Output = ()> + Send + 'static,
{
    let flight = Arc::new(Flight::default());
    let (to, mut results) = open::<C, _>(items);
    let from = ended_source::<C>(items);
    let end = start::<P, C, E, _>(executor, n, (from, to), &flight, work, AtEnd::Close);
    finish::<W>(&flight, end);
    let (seen, _) = drain::<C>(&flight, &mut results);
    flight.judge(Terms::unbounded(P::ORDERED, items));
    seen.into_iter().map(|(item, _)| item).collect()
}

/// The head never ends: others are begun up to the bound, or the window, where they wait for it, and all of them are
/// delivered where they do not.
fn never_ends<P, C, E, W>(extra: usize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    const N: usize = 2;
    let promised = terms::<P, C, E>(N, extra, 0);
    // As many as the head lets begin where they wait for it, and one more.
    let held_up = if P::ORDERED {
        promised.window
    } else {
        promised.bound
    };
    let items = held_up + 1;
    let work = |input, mut item: ItemOf<P, C, E>| async move {
        if input == 0 {
            pending::<()>().await;
        }
        item.put().await;
    };
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = open::<C, _>(items);
    let (_open, from) = source::<C>(items);
    let _end = start::<P, C, E, _>(&executor, N, (from, to), &flight, work, AtEnd::Close);
    if !P::ORDERED {
        // One of each that the head does not hold up.
        for _ in 0..items - 1 {
            take::<C, W>(&flight, &mut results);
        }
    }
    let begun = if P::ORDERED { held_up } else { items };
    come_to_rest::<C, E, W>(&executor, || flight.calls() >= begun && flight.now() == 1);
    let (calls, now) = (flight.calls(), flight.now());
    flight.write(Event::Rest);
    drain::<C>(&flight, &mut results);
    drop(executor);
    flight.judge(Terms {
        inputs: items,
        ..promised
    });
    holds_eq!(
        now,
        1,
        "P4: an item that never ends holds more than its slot"
    );
    holds_eq!(calls, begun, "P4: items begun beside one that never ends");
}
