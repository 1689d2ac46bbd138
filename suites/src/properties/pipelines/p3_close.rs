//! P3: the output closes after the last delivery, unless asked not to; once it is seen closed nothing further
//! is taken, and what is in flight ends.

use std::iter;
use std::num::NonZeroUsize;
use std::sync::Arc;

use flowmeter_harness::channel::{Async, Polled};
use flowmeter_harness::executor::{Executors, give_way};
use flowmeter_harness::pipeline::{AtEnd, Pipelines};
use flowmeter_harness::spec::pipeline::{Event, Terms};
use flowmeter_harness::sync::World;

use super::super::gate::Gate;
use super::flight::{
    Flight, Item, ItemOf, Result, come_to_rest, drain, ended_source, finish, open, source, start,
    take, terms,
};
use super::{Case, ONE, Property, Reliance, several};

pub(in super::super) const PROPERTY: Property = Property {
    name: "p3-close",
    statement: "The output closes after the last delivery; nothing is taken once it is seen closed.",
    relied_on_by: Reliance::Everybody,
};

pub(super) fn cases<P, C, E, W>(extra: usize) -> Vec<Case>
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let mut cases = vec![Case::new("a consumer that takes all", || {
        closes::<P, C, E, W>()
    })];
    for at_end in [AtEnd::Close, AtEnd::LeaveOpen] {
        let name = format!("{at_end:?}");
        cases.push(Case::new(name, move || ends::<P, C, E, W>(ONE, at_end)));
    }
    cases.push(Case::new("Close, on several threads", || {
        ends::<P, C, E, W>(several::<W>(), AtEnd::Close);
    }));
    cases.push(Case::new("no input", || nothing::<P, C, E, W>()));
    cases.push(Case::new("an input that closes in the middle", move || {
        input_closes::<P, C, E, W>(extra);
    }));
    // More items than loom has room for.
    if W::name() != "loom" {
        let name = "an output that closes in the middle";
        cases.push(Case::new(name, move || {
            output_closes::<P, C, E, W>(extra);
        }));
    }
    for n in 1..=2 {
        let name = format!("an output that is closed, n = {n}");
        cases.push(Case::new(name, move || {
            unwanted::<P, C, E, W>(ONE, n, extra);
        }));
    }
    cases.push(Case::new(
        "an output that is closed, n = 1, on several threads",
        move || unwanted::<P, C, E, W>(several::<W>(), 1, extra),
    ));
    cases.push(Case::new("an output that is closed, an idle input", || {
        idle_input::<P, C, E, W>();
    }));
    cases
}

/// Not at once: a loop could have all items, one after the other.
async fn one_result<C: Async, G>(_input: usize, mut item: Item<C, G>) {
    give_way().await;
    item.put().await;
}

/// Deliveries wait for room, and the close comes after all of them.
fn closes<P, C, E, W>()
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    const ITEMS: usize = 3;
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = open::<C, Result>(1);
    let from = ended_source::<C>(ITEMS);
    let end = start::<P, C, E, _>(&executor, 2, (from, to), &flight, one_result, AtEnd::Close);
    while take::<C, W>(&flight, &mut results).is_some() {}
    finish::<W>(&flight, end);
    drop(executor);
    flight.judge(Terms::unbounded(P::ORDERED, ITEMS));
}

/// When the pipeline says that it has ended everything is delivered, and the output closed or left open.
fn ends<P, C, E, W>(threads: NonZeroUsize, at_end: AtEnd)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    const ITEMS: usize = 2;
    let executor = E::with_threads(threads);
    let flight = Arc::new(Flight::default());
    let (to, mut results) = open::<C, Result>(ITEMS);
    let stays = C::another_tx(&to);
    let from = ended_source::<C>(ITEMS);
    let end = start::<P, C, E, _>(&executor, 2, (from, to), &flight, one_result, at_end);
    finish::<W>(&flight, end);
    let (_, rest) = drain::<C>(&flight, &mut results);
    drop(executor);
    flight.judge(Terms::unbounded(P::ORDERED, ITEMS));
    match at_end {
        AtEnd::Close => holds_eq!(rest, Polled::Closed, "P3: the output was not closed"),
        AtEnd::LeaveOpen if stays.is_some() => {
            holds_eq!(rest, Polled::WouldWait, "P3: the output was not left open");
        }
        AtEnd::LeaveOpen => {}
    }
}

fn nothing<P, C, E, W>()
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (ends, from) = open::<C, usize>(1);
    let (to, mut results) = open::<C, Result>(1);
    let end = start::<P, C, E, _>(&executor, 2, (from, to), &flight, one_result, AtEnd::Close);
    C::close(&ends);
    drop(ends);
    take::<C, W>(&flight, &mut results);
    finish::<W>(&flight, end);
    drop(executor);
    flight.judge(Terms::unbounded(P::ORDERED, 0));
}

/// The input closes while as many items are in flight as may be: all of them are delivered, and then the output closes.
fn input_closes<P, C, E, W>(extra: usize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    const N: usize = 1;
    let items = N + extra;
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let held = Gate::default();
    let pass = held.clone();
    let work = move |_, mut item: ItemOf<P, C, E>| {
        let pass = pass.pass();
        async move {
            pass.await;
            item.put().await;
        }
    };
    let (input, from) = source::<C>(items);
    let (to, mut results) = open::<C, Result>(items);
    let end = start::<P, C, E, _>(&executor, N, (from, to), &flight, work, AtEnd::Close);
    come_to_rest::<C, E, W>(&executor, || flight.now() == items);
    C::close(&input);
    drop(input);
    held.open();
    finish::<W>(&flight, end);
    let (came, rest) = drain::<C>(&flight, &mut results);
    drop(executor);
    flight.judge(terms::<P, C, E>(N, extra, items));
    let seen = (came.len(), rest);
    holds_eq!(
        seen,
        (items, Polled::Closed),
        "P3: results of an input that closed, and how it goes on"
    );
}

/// The consumer takes one result and closes the output, with as many items in flight as may be: what is taken after that is
/// one for each at most, and all end.
fn output_closes<P, C, E, W>(extra: usize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    const N: usize = 1;
    let promised = terms::<P, C, E>(N, extra, 0);
    let before = if P::ORDERED {
        promised.window
    } else {
        promised.bound
    };
    // Those that are there when it closes, one that was delivered, one for each afterwards, and more.
    let items = 2 * before + 3;
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (_open, from) = source::<C>(items);
    let (to, mut results) = open::<C, Result>(1);
    // At once: there is one loop.
    let work = |_, mut item: ItemOf<P, C, E>| async move { item.put().await };
    let end = start::<P, C, E, _>(&executor, N, (from, to), &flight, work, AtEnd::Close);
    let first = take::<C, W>(&flight, &mut results);
    C::close_rx(&mut results);
    drop(results);
    // Not before: a result may have been accepted until then.
    flight.write(Event::Unwanted);
    finish::<W>(&flight, end);
    drop(executor);
    flight.judge(Terms {
        inputs: items,
        ..promised
    });
    holds!(first.is_some(), "P3: no result of an output that is wanted");
}

/// Nobody wants the results, of which each item has three, from the first on. Whoever has one item at a time
/// sees it at that item, and begins no other; so n + k are taken at most, and all of them end.
fn unwanted<P, C, E, W>(threads: NonZeroUsize, n: usize, extra: usize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let items = n + extra + 2;
    let executor = E::with_threads(threads);
    let flight = Arc::new(Flight::default());
    let (_open, from) = source::<C>(items);
    let left = C::another_rx(&from);
    let (to, mut results) = open::<C, Result>(1);
    flight.write(Event::Unwanted);
    C::close_rx(&mut results);
    drop(results);
    // One is taken, one has room in the buffer, and one waits for somebody to take the rest.
    let work = |_, mut item: ItemOf<P, C, E>| async move {
        give_way().await;
        for _ in 0..3 {
            item.put().await;
        }
    };
    let end = start::<P, C, E, _>(&executor, n, (from, to), &flight, work, AtEnd::Close);
    finish::<W>(&flight, end);
    drop(executor);
    flight.judge(terms::<P, C, E>(n, extra, items));
    let taken = match left {
        Some(mut left) => {
            items
                - iter::from_fn(|| matches!(C::poll(&mut left), Polled::Done(_)).then_some(()))
                    .count()
        }
        None => flight.calls(),
    };
    holds!(
        taken <= n + extra,
        "P3: {taken} items were taken where n = {n}, though none was wanted"
    );
}

/// One item is refused, and no other ever comes: whoever waits for one is told that none is wanted.
fn idle_input<P, C, E, W>()
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    // More than one who waits behind the one that is told.
    let n = match W::name() {
        "std" => 4,
        "loom" => 2,
        _ => 3,
    };
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (_open, from) = source::<C>(1);
    let (to, mut results) = open::<C, Result>(1);
    flight.write(Event::Unwanted);
    C::close_rx(&mut results);
    drop(results);
    let end = start::<P, C, E, _>(&executor, n, (from, to), &flight, one_result, AtEnd::Close);
    // A take that goes on waiting is a deadlock here.
    finish::<W>(&flight, end);
    drop(executor);
    flight.judge(Terms::unbounded(P::ORDERED, 1));
    holds_eq!(flight.calls(), 1, "P3: one item was there");
}
