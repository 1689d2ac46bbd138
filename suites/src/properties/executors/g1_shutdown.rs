//! G1, at the end: dropping an executor drops tasks that wait, whose channels close, lets blocking work come to
//! its end, and leaves no thread.

use std::future::pending;
use std::sync::Arc;

use flowmeter_harness::channel::{Async, Blocking, Polled, TakeError};
use flowmeter_harness::executor::{Executors, Spawn, give_way, go};
use flowmeter_harness::sync::World;

use super::{Case, ONE, Property, Reliance, open};

pub(in super::super) const PROPERTY: Property = Property {
    name: "g1-shutdown",
    statement: "An executor that is dropped drops what waits, closes the channels of its go blocks and joins its threads.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<E, C, W>() -> Vec<Case>
where
    E: Executors,
    C: Async + Blocking,
    W: World,
{
    vec![
        Case::new("a block that never ends", || {
            shut_down::<E, C>(pending::<Option<u32>>());
        }),
        Case::new("a block that waits and goes on", || {
            shut_down::<E, C>(async {
                for _ in 0..3 {
                    give_way().await;
                }
                pending().await
            });
        }),
        Case::new("a waker that outlives it", late_waker::<E, C>),
        Case::new("a spawner that outlives it", late_spawner::<E>),
        Case::new("blocking work", blocking_work::<E, C, W>),
        Case::new("blocking work that may not have begun", || {
            work_at_once::<E>();
        }),
        Case::new("in its own task", || {
            on_its_own_thread::<E, C, W>(|spawner, work| {
                spawner.spawn(async move { work() });
            });
        }),
        Case::new("in its own blocking work", || {
            on_its_own_thread::<E, C, W>(|spawner, work| spawner.spawn_blocking(work));
        }),
    ]
}

/// Whatever the block is doing, all that it holds is dropped when the executor is.
fn shut_down<E: Executors, C: Async>(block: impl Future<Output = Option<u32>> + Send + 'static) {
    let executor = E::with_threads(ONE);
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let mut results = go::<C, u32>(&executor.spawner(), async move {
        let _held = held;
        block.await
    });
    drop(executor);
    let left = (C::poll(&mut results), Arc::strong_count(&alive));
    holds_eq!(
        left,
        (Polled::Closed, 1),
        "G1: a task outlived its executor, or its channel is open"
    );
}

/// The task waits on a channel; what is put there afterwards wakes nobody.
fn late_waker<E: Executors, C: Async>() {
    let executor = E::with_threads(ONE);
    let (mut tx, mut rx) = open::<C, u32>();
    // So that it is the task that goes away, and not the channel.
    let _stays = C::another_rx(&rx);
    let mut results = go::<C, u32>(&executor.spawner(), async move {
        C::take_async(&mut rx).await.ok()
    });
    drop(executor);
    let _ = C::offer(&mut tx, 7);
    let answer = C::poll(&mut results);
    holds_eq!(answer, Polled::Closed, "G1: a task outlived its executor");
}

fn late_spawner<E: Executors>() {
    let executor = E::with_threads(ONE);
    let spawner = executor.spawner();
    drop(executor);
    let alive = Arc::new(());
    let held = [(); 2].map(|()| Arc::clone(&alive));
    let [task_held, work_held] = held;
    spawner.spawn(async move {
        let _held = task_held;
        pending::<()>().await;
    });
    spawner.spawn_blocking(move || {
        let _held = work_held;
        violated!("G1: blocking work begins after its executor's end");
    });
    let holders = Arc::strong_count(&alive);
    holds_eq!(holders, 1, "G1: a task outlived its executor");
}

/// Run or not, it is over when the executor is.
fn work_at_once<E: Executors>() {
    let executor = E::with_threads(ONE);
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    executor.spawner().spawn_blocking(move || drop(held));
    drop(executor);
    let holders = Arc::strong_count(&alive);
    holds_eq!(holders, 1, "G1: blocking work outlived its executor");
}

/// What drops the executor comes to its end, and the tasks that wait are dropped.
fn on_its_own_thread<E, C, W>(run: impl FnOnce(&E::Spawner, Box<dyn FnOnce() + Send>))
where
    E: Executors,
    C: Async,
    W: World,
{
    let executor = E::with_threads(ONE);
    let spawner = executor.spawner();
    let mut results = go::<C, u32>(&spawner, pending());
    let (mut tx, mut dropped) = open::<C, ()>();
    run(
        &spawner,
        Box::new(move || {
            drop(executor);
            let _ = C::offer(&mut tx, ());
        }),
    );
    let seen = W::block_on(C::take_async(&mut dropped));
    holds_eq!(seen, Ok(()), "G1: the drop did not return");
    let answer = W::block_on(C::take_async(&mut results));
    let closed = Err(TakeError::Closed);
    holds_eq!(answer, closed, "G1: the channel was not closed");
}

/// Work that has begun comes to its end before the executor is gone.
fn blocking_work<E, C, W>()
where
    E: Executors,
    C: Async + Blocking,
    W: World,
{
    let executor = E::with_threads(ONE);
    let (mut begun, mut begins) = open::<C, ()>();
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    executor.spawn_blocking(move || {
        let _held = held;
        let _ = C::put(&mut begun, ());
        W::yield_now();
    });
    let seen = W::block_on(C::take_async(&mut begins));
    drop(executor);
    let holders = Arc::strong_count(&alive);
    holds_eq!(seen, Ok(()), "G2: blocking work did not run");
    holds_eq!(holders, 1, "G1: blocking work outlived its executor");
}
