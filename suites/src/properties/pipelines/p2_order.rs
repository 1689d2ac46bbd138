//! P2: ordered pipelines deliver in the order of their inputs, the others in the order of completion.

use std::num::NonZeroUsize;
use std::sync::Arc;

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::{Executors, give_way};
use flowmeter_harness::pipeline::{AtEnd, Pipelines};
use flowmeter_harness::spec::pipeline::Terms;
use flowmeter_harness::sync::World;

use super::super::gate::Gate;
use super::flight::{Flight, ItemOf, drain, ended_source, finish, open, start, take};
use super::{Case, ONE, Property, Reliance, several};

pub(in super::super) const PROPERTY: Property = Property {
    name: "p2-order",
    statement: "Results leave in the order of inputs where that is claimed, else in the order of completion.",
    relied_on_by: Reliance::Everybody,
};

pub(super) fn cases<P, C, E, W>() -> Vec<Case>
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    if P::ORDERED {
        vec![
            Case::new("the second item is done first", second_first::<P, C, E, W>),
            Case::new("items as they come", || as_they_come::<P, C, E, W>(ONE)),
            Case::new("items as they come, on several threads", || {
                as_they_come::<P, C, E, W>(several::<W>());
            }),
        ]
    } else {
        vec![
            Case::new("a slow head", || slow_head::<P, C, E, W>(ONE)),
            Case::new("a slow head, on several threads", || {
                slow_head::<P, C, E, W>(several::<W>());
            }),
        ]
    }
}

/// The head waits until the item behind it has a result.
fn second_first<P, C, E, W>()
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let behind = Gate::default();
    let work = move |input, mut item: ItemOf<P, C, E>| {
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
    delivers::<P, C, E, W, _>(ONE, 3, work);
}

fn as_they_come<P, C, E, W>(threads: NonZeroUsize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let items = match W::name() {
        "std" => 32,
        "loom" if threads > ONE => 2,
        _ => 4,
    };
    let work = |input, mut item: ItemOf<P, C, E>| async move {
        // Uneven: every other one is done sooner than the one before.
        if input % 2 == 0 {
            give_way().await;
        }
        item.put().await;
    };
    delivers::<P, C, E, W, _>(threads, items, work);
}

fn delivers<P, C, E, W, F>(
    threads: NonZeroUsize,
    items: usize,
    work: impl Fn(usize, ItemOf<P, C, E>) -> F + Send + Sync + 'static,
) where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
    F: Future<Output = ()> + Send + 'static,
{
    let executor = E::with_threads(threads);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = open::<C, _>(2 * items);
    let from = ended_source::<C>(items);
    let end = start::<P, C, E, _>(&executor, 2, (from, to), &flight, work, AtEnd::Close);
    finish::<W>(&flight, end);
    drop(executor);
    drain::<C>(&flight, &mut results);
    flight.judge(Terms::unbounded(P::ORDERED, items));
}

/// The head waits until the item behind it has been delivered.
fn slow_head<P, C, E, W>(threads: NonZeroUsize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let executor = E::with_threads(threads);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = open::<C, _>(2);
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
    let from = ended_source::<C>(2);
    let end = start::<P, C, E, _>(&executor, 2, (from, to), &flight, work, AtEnd::Close);
    // Before the head has anything to put.
    take::<C, W>(&flight, &mut results);
    slow.open();
    finish::<W>(&flight, end);
    drop(executor);
    drain::<C>(&flight, &mut results);
    flight.judge(Terms::unbounded(P::ORDERED, 2));
}
