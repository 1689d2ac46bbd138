//! P3: the output closes after the last delivery, unless asked not to; once it is seen closed nothing further
//! is taken, and what is in flight ends.

use std::num::NonZeroUsize;
use std::sync::Arc;

use flowmeter_harness::channel::{Async, Polled};
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::{AtEnd, Pipelines};
use flowmeter_harness::sync::World;

use super::flight::{Flight, Item, drain, ended_source, open, source, start};
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

async fn one_result<C: Async>(input: usize, mut item: Item<C, usize>) {
    item.put(input).await;
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
    let (to, mut results) = open::<C, usize>(1);
    let from = ended_source::<C>(ITEMS);
    let end = start::<P, C, E, _, _>(&executor, 2, (from, to), &flight, one_result, AtEnd::Close);
    let mut seen = Vec::new();
    while let Ok(result) = W::block_on(C::take_async(&mut results)) {
        seen.push(result);
    }
    W::block_on(end);
    drop(executor);
    seen.sort_unstable();
    assert_eq!(
        seen,
        Vec::from_iter(0..ITEMS),
        "P3: the output closed before everything was delivered"
    );
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
    let (to, mut results) = open::<C, usize>(ITEMS);
    let stays = C::another_tx(&to);
    let from = ended_source::<C>(ITEMS);
    let end = start::<P, C, E, _, _>(&executor, 2, (from, to), &flight, one_result, at_end);
    W::block_on(end);
    let (seen, rest) = drain::<C, _>(&mut results);
    drop(executor);
    assert_eq!(
        seen.len(),
        ITEMS,
        "P3: the end was told before everything was delivered"
    );
    match at_end {
        AtEnd::Close => assert_eq!(rest, Polled::Closed, "P3: the output was not closed"),
        AtEnd::LeaveOpen if stays.is_some() => {
            assert_eq!(rest, Polled::WouldWait, "P3: the output was not left open");
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
    let (to, mut results) = open::<C, usize>(1);
    let end = start::<P, C, E, _, _>(&executor, 2, (from, to), &flight, one_result, AtEnd::Close);
    C::close(&ends);
    drop(ends);
    let answer = W::block_on(C::take_async(&mut results));
    W::block_on(end);
    drop(executor);
    assert!(answer.is_err(), "P3: a result of no input");
    assert_eq!(flight.calls(), 0, "P3: an item of no input");
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
    let (to, mut results) = open::<C, usize>(1);
    C::close_rx(&mut results);
    drop(results);
    // One is taken, one has room in the buffer, and one waits for somebody to take the rest.
    let work = |input, mut item: Item<C, usize>| async move {
        for _ in 0..3 {
            item.put(input).await;
        }
    };
    let end = start::<P, C, E, _, _>(&executor, n, (from, to), &flight, work, AtEnd::Close);
    W::block_on(end);
    let still_in_flight = flight.now();
    drop(executor);
    let taken = match left {
        Some(mut left) => items - drain::<C, _>(&mut left).0.len(),
        None => flight.calls(),
    };
    assert!(
        taken <= n + extra,
        "P3: {taken} items were taken where n = {n}, though none was wanted"
    );
    assert_eq!(
        still_in_flight, 0,
        "P3: the end was told while items were in flight"
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
    let n = if W::NAME == "std" { 4 } else { 2 };
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (_open, from) = source::<C>(1);
    let (to, mut results) = open::<C, usize>(1);
    C::close_rx(&mut results);
    drop(results);
    let end = start::<P, C, E, _, _>(&executor, n, (from, to), &flight, one_result, AtEnd::Close);
    // A take that goes on waiting is a deadlock here.
    W::block_on(end);
    drop(executor);
    assert_eq!(flight.calls(), 1, "P3: one item was there");
}
