//! G2: waiting in a go block frees its thread, and blocking work has a place of its own.

use std::num::NonZeroUsize;

use flowmeter_harness::channel::{Async, Blocking, TakeError};
use flowmeter_harness::executor::{Executors, go};
use flowmeter_harness::sync::World;

use super::{Case, ONE, Property, Reliance, open};

pub(in super::super) const PROPERTY: Property = Property {
    name: "g2-parking",
    statement: "Any number of go blocks wait on few threads, and work that blocks starves none of them.",
    relied_on_by: Reliance::Everybody,
};

pub(super) fn cases<E, C, W>() -> Vec<Case>
where
    E: Executors,
    C: Async + Blocking,
    W: World,
{
    let two = NonZeroUsize::MIN.saturating_add(1);
    let four = two.saturating_add(2);
    let mut cases = vec![
        Case::new("three wait on one thread", || {
            parked::<E, C, W>(ONE, 3);
        }),
        Case::new("two wait on two threads", move || {
            parked::<E, C, W>(two, 2);
        }),
        Case::new("blocking work waits for a task", || {
            blocking_waits_for_a_task::<E, C, W>();
        }),
        Case::new("blocking work waits for blocking work", || {
            blocking_waits_for_blocking::<E, C, W>();
        }),
    ];
    if W::name() == "std" {
        cases.push(Case::new("ten thousand wait on four threads", move || {
            parked::<E, C, W>(four, 10_000);
        }));
    }
    cases
}

/// Each waits on a channel of its own; the last is served first.
fn parked<E, C, W>(threads: NonZeroUsize, blocks: u32)
where
    E: Executors,
    C: Async,
    W: World,
{
    let executor = E::with_threads(threads);
    let spawner = executor.spawner();
    let mut waiting = Vec::new();
    for _ in 0..blocks {
        let (tx, mut rx) = open::<C, u32>();
        let result = go::<C, _>(&spawner, async move { C::take_async(&mut rx).await.ok() });
        waiting.push((tx, result));
    }
    let mut served = Vec::new();
    for (number, (mut tx, result)) in (0..blocks).zip(waiting).rev() {
        let put = W::block_on(C::put_async(&mut tx, number));
        served.push((number, put.is_ok(), result));
    }
    let mut answers = Vec::new();
    for (number, put, mut result) in served {
        let answer = W::block_on(C::take_async(&mut result));
        answers.push((number, put, answer));
    }
    drop(executor);
    for (number, put, answer) in answers {
        holds!(put, "C1: a put on an open channel was refused");
        holds_eq!(answer, Ok(number), "G2: a go block did not go on");
    }
}

/// On an executor of one thread.
fn blocking_waits_for_a_task<E, C, W>()
where
    E: Executors,
    C: Async + Blocking,
    W: World,
{
    let executor = E::with_threads(ONE);
    let (mut question, mut asked) = open::<C, u32>();
    let (mut answer, mut answered) = open::<C, Result<u32, TakeError>>();
    executor.spawn_blocking(move || {
        let got = C::take(&mut asked);
        let _ = C::put(&mut answer, got);
    });
    executor.spawn(async move {
        let _ = C::put_async(&mut question, 7).await;
    });
    let got = W::block_on(C::take_async(&mut answered));
    drop(executor);
    holds_eq!(got, Ok(Ok(7)), "G2: blocking work starved a task");
}

fn blocking_waits_for_blocking<E, C, W>()
where
    E: Executors,
    C: Async + Blocking,
    W: World,
{
    let executor = E::with_threads(ONE);
    let (mut question, mut asked) = open::<C, u32>();
    let (mut answer, mut answered) = open::<C, Result<u32, TakeError>>();
    executor.spawn_blocking(move || {
        let got = C::take(&mut asked);
        let _ = C::put(&mut answer, got);
    });
    executor.spawn_blocking(move || {
        let _ = C::put(&mut question, 7);
    });
    let got = W::block_on(C::take_async(&mut answered));
    drop(executor);
    holds_eq!(got, Ok(Ok(7)), "G2: blocking work starved blocking work");
}
