//! P1: no more than n + k items are in flight, and that many where there is enough input.

use std::future::pending;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::{Executors, Spawn, give_way};
use flowmeter_harness::pipeline::{AtEnd, Pipelines};
use flowmeter_harness::spec::pipeline::{Event, Terms};
use flowmeter_harness::sync::World;

use super::super::gate::settle;
use super::flight::{
    Flight, ItemOf, Result, come_to_rest, ended_source, finish, open, source, start, terms,
};
use super::{Case, ONE, PATIENCE, Property, Reliance, several};

pub(in super::super) const PROPERTY: Property = Property {
    name: "p1-bound",
    statement: "Never are more than n + k items in flight, and that many are where there is enough input.",
    relied_on_by: Reliance::Everybody,
};

pub(super) fn cases<P, C, E, W>(extra: usize) -> Vec<Case>
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let mut cases = Vec::new();
    for n in 1..=3 {
        let name = format!("n = {n}, items that do not end");
        cases.push(Case::new(name, move || held::<P, C, E, W>(ONE, n, extra)));
    }
    if W::name() != "loom" {
        let name = "n = 2, items that do not end, on several threads";
        cases.push(Case::new(name, move || {
            held::<P, C, E, W>(several::<W>(), 2, extra);
        }));
    }
    for n in 1..=2 {
        let name = format!("n = {n}, items that end");
        cases.push(Case::new(name, move || {
            ending::<P, C, E, W>(ONE, n, extra);
        }));
        if W::name() == "loom" && n > 1 {
            continue;
        }
        let name = format!("n = {n}, items that end, on several threads");
        cases.push(Case::new(name, move || {
            ending::<P, C, E, W>(several::<W>(), n, extra);
        }));
    }
    for (n, threads) in [(1, ONE), (1, several::<W>()), (2, several::<W>())] {
        if W::name() == "loom" && threads > ONE {
            continue;
        }
        let name = format!("n = {n}, items that other tasks end, {threads} threads");
        cases.push(Case::new(name, move || {
            ended_elsewhere::<P, C, E, W>(threads, n, extra);
        }));
    }
    // More than a channel admits waiters.
    const MANY: usize = 2_000;
    if W::name() == "std" {
        let name = format!("n = {MANY}, items that do not end");
        cases.push(Case::new(name, move || {
            held::<P, C, E, W>(ONE, MANY, extra);
        }));
    }
    if W::name() == "sim" {
        let name = format!("n = {MANY}, no items");
        cases.push(Case::new(name, || idle::<P, C, E, W>(MANY)));
    }
    let name = "n = 1, an output that is closed";
    cases.push(Case::new(name, move || closed::<P, C, E, W>(1, extra)));
    cases
}

/// Items that never end: when nobody can go on, exactly n + k have begun.
fn held<P, C, E, W>(threads: NonZeroUsize, n: usize, extra: usize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let bound = n + extra;
    let executor = E::with_threads(threads);
    let flight = Arc::new(Flight::default());
    let (_open, from) = source::<C>(bound + 1);
    let (to, _unread) = open::<C, Result>(1);
    let work = |_, item| async move {
        let _item = item;
        pending::<()>().await;
    };
    let _end = start::<P, C, E, _>(&executor, n, (from, to), &flight, work, AtEnd::Close);
    come_to_rest::<C, E, W>(&executor, || flight.now() >= bound);
    flight.write(Event::Rest);
    drop(executor);
    flight.judge(terms::<P, C, E>(n, extra, bound + 1));
}

/// Items that come and go.
fn ending<P, C, E, W>(threads: NonZeroUsize, n: usize, extra: usize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let items = match W::name() {
        "std" => 32,
        "loom" if threads > ONE => n + extra + 1,
        _ => n + extra + 2,
    };
    let executor = E::with_threads(threads);
    let flight = Arc::new(Flight::default());
    let from = ended_source::<C>(items);
    let (to, _room_for_all) = open::<C, Result>(items);
    let work = |_, mut item: ItemOf<P, C, E>| async move {
        give_way().await;
        item.put().await;
    };
    let end = start::<P, C, E, _>(&executor, n, (from, to), &flight, work, AtEnd::Close);
    finish::<W>(&flight, end);
    drop(executor);
    flight.judge(terms::<P, C, E>(n, extra, items));
}

/// Items whose function hands its port to another task, and has returned long before that puts a result and drops the port.
fn ended_elsewhere<P, C, E, W>(threads: NonZeroUsize, n: usize, extra: usize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let items = n + extra + 1;
    let executor = E::with_threads(threads);
    let flight = Arc::new(Flight::default());
    let from = ended_source::<C>(items);
    let (to, _room_for_all) = open::<C, Result>(items);
    // A spawner need not be shared among threads.
    let spawner = Mutex::new(executor.spawner());
    let work = move |_, mut item: ItemOf<P, C, E>| {
        let spawner = spawner.lock().expect("nobody panics with the lock").clone();
        async move {
            spawner.spawn(async move {
                give_way().await;
                item.put().await;
            });
        }
    };
    let end = start::<P, C, E, _>(&executor, n, (from, to), &flight, work, AtEnd::Close);
    finish::<W>(&flight, end);
    drop(executor);
    flight.judge(terms::<P, C, E>(n, extra, items));
}

/// Items that put a result, which nobody wants, and then do not end: core.async 1.5.648 leaves them, and
/// begins any number of further ones.
fn closed<P, C, E, W>(n: usize, extra: usize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let items = n + extra + 2;
    let (_open, from) = source::<C>(items);
    let (to, mut unwanted) = open::<C, Result>(1);
    flight.write(Event::Unwanted);
    C::close_rx(&mut unwanted);
    drop(unwanted);
    let work = |_, mut item: ItemOf<P, C, E>| async move {
        item.put().await;
        pending::<()>().await;
    };
    let _end = start::<P, C, E, _>(&executor, n, (from, to), &flight, work, AtEnd::Close);
    come_to_rest::<C, E, W>(&executor, || true);
    drop(executor);
    flight.judge(terms::<P, C, E>(n, extra, items));
}

/// While there is nothing to do nobody does anything: a task that asks again and again would never let this
/// world come to rest.
fn idle<P, C, E, W>(n: usize)
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    W: World,
{
    let executor = E::with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (_open, from) = open::<C, usize>(1);
    let (to, _unread) = open::<C, Result>(1);
    let work = |_, item: ItemOf<P, C, E>| async move { drop(item) };
    let _end = start::<P, C, E, _>(&executor, n, (from, to), &flight, work, AtEnd::Close);
    settle::<C, W>(PATIENCE, || true);
    drop(executor);
    flight.judge(Terms::unbounded(P::ORDERED, 0));
}
