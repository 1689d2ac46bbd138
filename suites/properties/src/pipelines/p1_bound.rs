//! P1: at most n + k items are in flight, and exactly as many where there is enough input.
//!
//! The smallest history that violates it:
//!
//! ```text
//! n = 1, k = 0
//! pipeline              item 0            item 1
//! calls af(0)
//!                       in flight
//! calls af(1)
//!                                         in flight: two at once
//! ```

use std::future::{pending, poll_fn};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use flowmeter_harness::channel::Offered;
use flowmeter_harness::executor::{Spawn, give_way};
use flowmeter_harness::pipeline::AtEnd;
use flowmeter_harness::spec::pipeline::{Event, Terms};
use flowmeter_harness::sync::world;

use super::super::gate::quiesce;
use super::flight::{Flight, Item, come_to_rest, ended_source, finish, source, terms};
use super::{Case, Cases, Design, ONE, Property, Reliance, What, several};
use crate::design::pipelines::Pipelines;

pub(in super::super) const PROPERTY: Property = Property {
    name: "p1-bound",
    statement: "There are never more than n + k items in flight, and exactly that many where there is enough input.",
    relied_on_by: Reliance::All,
    cases: Cases::Pipelines(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::Pipelines(pipelines) = design.what else {
        return Vec::new();
    };
    let mut cases = Vec::new();
    for n in 1..=3 {
        let name = format!("n = {n}, items that do not end");
        cases.push(Case::new(name, move || held(pipelines, ONE, n)));
    }
    if world::name() != "loom" {
        let name = "n = 2, items that do not end, on several threads";
        cases.push(Case::new(name, move || {
            held(pipelines, several(), 2);
        }));
    }
    for n in 1..=2 {
        let name = format!("n = {n}, items that end");
        cases.push(Case::new(name, move || {
            ending(pipelines, ONE, n);
        }));
        if world::name() == "loom" && n > 1 {
            continue;
        }
        let name = format!("n = {n}, items that end, on several threads");
        cases.push(Case::new(name, move || {
            ending(pipelines, several(), n);
        }));
    }
    for (n, threads) in [(1, ONE), (1, several()), (2, several())] {
        if world::name() == "loom" && threads > ONE {
            continue;
        }
        let name = format!("n = {n}, items that other tasks end, {threads} threads");
        cases.push(Case::new(name, move || {
            ended_elsewhere(pipelines, threads, n);
        }));
    }
    // More than a channel admits as waiters.
    const MANY: usize = 2_000;
    if world::name() == "std" {
        let name = format!("n = {MANY}, items that do not end");
        cases.push(Case::new(name, move || {
            held(pipelines, ONE, MANY);
        }));
    }
    if world::name() == "sim" {
        let name = format!("n = {MANY}, no items");
        cases.push(Case::new(name, move || idle(pipelines, MANY)));
    }
    // Elsewhere it takes long, or too long.
    if matches!(world::name(), "sim" | "shuttle") {
        for n in 2..=3 {
            let name = format!("n = {n}, tasks that are woken late");
            cases.push(Case::new(name, move || woken_late(pipelines, n)));
        }
    }
    let name = "n = 1, an output that is closed";
    cases.push(Case::new(name, move || closed(pipelines, 1)));
    cases
}

/// Items that never end: when no task can go on, exactly n + k have begun.
fn held(pipelines: Pipelines, threads: NonZeroUsize, n: usize) {
    let bound = n + pipelines.extra;
    let executor = pipelines.on.executors.with_threads(threads);
    let flight = Arc::new(Flight::default());
    let (_open, from) = source(pipelines.on, bound + 1);
    let (to, _unread) = pipelines.on.open(1);
    let work = |_, item| async move {
        let _item = item;
        pending::<()>().await;
    };
    let _end = flight.start(pipelines, &executor, n, (from, to), work, AtEnd::Close);
    come_to_rest(pipelines.on, &executor, || flight.now() >= bound);
    flight.write(Event::Rest);
    drop(executor);
    flight.judge(terms(pipelines, n, bound + 1));
}

/// Items that end.
fn ending(pipelines: Pipelines, threads: NonZeroUsize, n: usize) {
    let items = match world::name() {
        "std" => 32,
        "loom" if threads > ONE => n + pipelines.extra + 1,
        _ => n + pipelines.extra + 2,
    };
    let executor = pipelines.on.executors.with_threads(threads);
    let flight = Arc::new(Flight::default());
    let from = ended_source(pipelines.on, items);
    let (to, _room_for_all) = pipelines.on.open(items);
    let work = |_, mut item: Item| async move {
        give_way().await;
        item.put().await;
    };
    let end = flight.start(pipelines, &executor, n, (from, to), work, AtEnd::Close);
    finish(&flight, end);
    drop(executor);
    flight.judge(terms(pipelines, n, items));
}

/// Inputs come alone and together by turns. With one that comes alone all tasks are woken, as by wakers that are used
/// late. These items end. Then exactly n + k begin that do not.
fn woken_late(pipelines: Pipelines, n: usize) {
    let bound = n + pipelines.extra;
    let ending = 3 * (bound + 1);
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (mut tx, from) = pipelines.on.open(bound + 1);
    let (to, _room_for_all) = pipelines.on.open(ending);
    let wakers = Arc::<Mutex<Vec<Waker>>>::default();
    let left = Arc::clone(&wakers);
    let work = move |input, mut item: Item| {
        let left = Arc::clone(&left);
        async move {
            let mine = poll_fn(|context| Poll::Ready(context.waker().clone())).await;
            left.lock().expect(WHOLE).push(mine);
            give_way().await;
            if input >= ending {
                pending::<()>().await;
            }
            item.put().await;
        }
    };
    let _end = flight.start(pipelines, &executor, n, (from, to), work, AtEnd::Close);
    let mut inputs = 0..;
    let mut comes = || {
        let input = inputs.next().expect("there is no last one");
        assert_eq!(tx.offer(input), Offered::Done, "there is room");
    };
    for _ in 0..3 {
        (0..bound).for_each(|_| comes());
        come_to_rest(pipelines.on, &executor, || true);
        comes();
        let woken = wakers.lock().expect(WHOLE).clone();
        woken.iter().for_each(Waker::wake_by_ref);
        come_to_rest(pipelines.on, &executor, || true);
    }
    (0..=bound).for_each(|_| comes());
    come_to_rest(pipelines.on, &executor, || flight.now() >= bound);
    flight.write(Event::Rest);
    drop(executor);
    flight.judge(terms(pipelines, n, ending + bound + 1));
}

const WHOLE: &str = "no thread panics while it holds the lock";

/// The function gives its port to another task and returns. Later that task puts a result and drops the port.
fn ended_elsewhere(pipelines: Pipelines, threads: NonZeroUsize, n: usize) {
    let items = n + pipelines.extra + 1;
    let executor = pipelines.on.executors.with_threads(threads);
    let flight = Arc::new(Flight::default());
    let from = ended_source(pipelines.on, items);
    let (to, _room_for_all) = pipelines.on.open(items);
    // A spawner need not be `Sync`.
    let spawner = Mutex::new(executor.spawner());
    let work = move |_, mut item: Item| {
        let spawner = spawner
            .lock()
            .expect("no thread panics while it holds the lock")
            .clone();
        async move {
            spawner.spawn(async move {
                give_way().await;
                item.put().await;
            });
        }
    };
    let end = flight.start(pipelines, &executor, n, (from, to), work, AtEnd::Close);
    finish(&flight, end);
    drop(executor);
    flight.judge(terms(pipelines, n, items));
}

/// Items that put a result to a closed output and then never end. core.async 1.5.648 abandons such items and begins
/// any number of further ones.
fn closed(pipelines: Pipelines, n: usize) {
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let items = n + pipelines.extra + 2;
    let (_open, from) = source(pipelines.on, items);
    let (to, mut unwanted) = pipelines.on.open(1);
    flight.write(Event::Unwanted);
    unwanted.close();
    drop(unwanted);
    let work = |_, mut item: Item| async move {
        item.put().await;
        pending::<()>().await;
    };
    let _end = flight.start(pipelines, &executor, n, (from, to), work, AtEnd::Close);
    come_to_rest(pipelines.on, &executor, || true);
    drop(executor);
    flight.judge(terms(pipelines, n, items));
}

/// While there is no input no task runs: a task that polls in a loop would never let this world come to rest.
fn idle(pipelines: Pipelines, n: usize) {
    let executor = pipelines.on.executors.with_threads(ONE);
    let flight = Arc::new(Flight::default());
    let (_open, from) = pipelines.on.open::<usize>(1);
    let (to, _unread) = pipelines.on.open(1);
    let work = |_, item: Item| async move { drop(item) };
    let _end = flight.start(pipelines, &executor, n, (from, to), work, AtEnd::Close);
    quiesce(pipelines.on.channels, || true);
    drop(executor);
    flight.judge(Terms::unbounded(pipelines.ordered(), 0));
}
