//! P5: behind a slow head items end and free their run permits until the window is full, and no more is kept.

use std::sync::Arc;

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines};
use flowmeter_harness::sync::World;

use super::super::gate::Gate;
use super::flight::{Flight, ItemOf, Result, come_to_rest, drain, open, source, start, terms};
use super::{Case, ONE, Property, Reliance};

pub(in super::super) const PROPERTY: Property = Property {
    name: "p5-window",
    statement: "Items behind a slow head free their permits until the window is full; no more than it are kept.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<P, C, E, W>(extra: usize) -> Vec<Case>
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    vec![
        Case::new("a slow head", move || slow_head::<P, C, E, W>(extra)),
        Case::new("results that nobody takes", move || {
            not_taken::<P, C, E, W>(extra)
        }),
        Case::new("a slow head, several results of an item", move || {
            several_results::<P, C, E, W>(extra)
        }),
    ]
}

/// The head waits until nobody can go on: the window is full by then, of items that have ended but for the head.
/// Then it ends, and there is room for the rest.
fn slow_head<P, C, E, W>(extra: usize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    const N: usize = 2;
    let window = terms::<P, C, E>(N, extra, 0).window;
    holds!(
        window > N,
        "P5: a window of {window} for {N} in flight is none"
    );
    let items = window + 1;
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let slow = Gate::default();
    let held = slow.clone();
    let work = move |input, mut item: ItemOf<P, C, E>| {
        let held = held.clone();
        async move {
            if input == 0 {
                held.pass().await;
            }
            item.put().await;
        }
    };
    let (_open, from) = source::<C>(items);
    let (to, mut results) = open::<C, Result>(items);
    let _end = start::<P, C, E, _>(&executor, N, (from, to), &flight, work, AtEnd::Close);
    come_to_rest::<C, E, W>(&executor, || flight.calls() >= window && flight.now() == 1);
    let (begun, running) = (flight.calls(), flight.now());
    slow.open();
    come_to_rest::<C, E, W>(&executor, || flight.calls() == items && flight.now() == 0);
    let came = drain::<C>(&flight, &mut results).0.len();
    drop(executor);
    flight.judge(terms::<P, C, E>(N, extra, items));
    holds_eq!(
        (begun, running),
        (window, 1),
        "P5: items begun behind a slow head, and those in flight"
    );
    holds_eq!(came, items, "P5: results came once the head had ended");
}

/// Behind a head that waits an item with more results than have room waits with them, in flight: the window is of no use to
/// it. Once the head ends all are delivered, those of an item together.
fn several_results<P, C, E, W>(extra: usize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    const N: usize = 2;
    /// One has room, and one more than waits.
    const EACH: usize = 3;
    let promised = terms::<P, C, E>(N, extra, N + 1);
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let slow = Gate::default();
    let held = slow.clone();
    let work = move |input, mut item: ItemOf<P, C, E>| {
        let held = held.clone();
        async move {
            if input == 0 {
                held.pass().await;
            }
            for _ in 0..EACH {
                item.put().await;
            }
        }
    };
    let (_open, from) = source::<C>(promised.inputs);
    let (to, mut results) = open::<C, Result>(promised.inputs * EACH);
    let _end = start::<P, C, E, _>(&executor, N, (from, to), &flight, work, AtEnd::Close);
    come_to_rest::<C, E, W>(&executor, || flight.calls() == N && flight.now() == N);
    let begun = (flight.calls(), flight.now());
    slow.open();
    come_to_rest::<C, E, W>(&executor, || {
        flight.calls() == promised.inputs && flight.now() == 0
    });
    let came = drain::<C>(&flight, &mut results).0.len();
    drop(executor);
    flight.judge(promised);
    holds_eq!(
        begun,
        (N, N),
        "P5: items begun behind a slow head, and those in flight"
    );
    holds_eq!(
        came,
        promised.inputs * EACH,
        "P5: results came once the head had ended"
    );
}

/// Nobody takes any result: what has ended stays, and the window bounds how much that is.
fn not_taken<P, C, E, W>(extra: usize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    // Of these the output has room for one.
    let kept = terms::<P, C, E>(1, extra, 0).window + 1;
    let items = kept + 1;
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let work = |_, mut item: ItemOf<P, C, E>| async move { item.put().await };
    let (_open, from) = source::<C>(items);
    let (to, _unread) = open::<C, Result>(1);
    let _end = start::<P, C, E, _>(&executor, 1, (from, to), &flight, work, AtEnd::Close);
    come_to_rest::<C, E, W>(&executor, || flight.calls() >= kept && flight.now() == 0);
    let begun = flight.calls();
    drop(executor);
    flight.judge(terms::<P, C, E>(1, extra, items));
    holds_eq!(
        begun,
        kept,
        "P5: items were begun whose results nobody took"
    );
}
