//! G2: waiting in a go block frees its thread, and blocking work has threads of its own.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! one thread, go block 1      go block 2
//! take from a waits
//!                             is served, and never runs: block 1 holds the thread
//!
//! one thread, blocking work   task
//! waits for the task's put
//!                             never runs: the work holds the thread
//! ```

use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::task::Poll;

use flowmeter_harness::channel::TakeError;
use flowmeter_harness::executor::Spawn as _;
use flowmeter_harness::sync::world;

use super::{Case, Cases, Design, ONE, Property, Reliance, Runtime, What};
use crate::design::Tx;
use crate::design::executors::Spawner;

pub(in super::super) const PROPERTY: Property = Property {
    name: "g2-parking",
    statement: "Any number of go blocks wait on few threads, and work that blocks starves none of them.",
    relied_on_by: Reliance::All,
    cases: Cases::Executors(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::Executors(on) = design.what else {
        return Vec::new();
    };
    let two = NonZeroUsize::MIN.saturating_add(1);
    let four = two.saturating_add(2);
    let mut cases = vec![
        Case::new("three wait on one thread", move || {
            parked(on, ONE, 3);
        }),
        Case::new("two wait on two threads", move || {
            parked(on, two, 2);
        }),
        Case::new("blocking work waits for a task", move || {
            blocking_waits_for_a_task(on);
        }),
        Case::new("blocking work waits for blocking work", move || {
            blocking_waits_for_blocking(on);
        }),
        Case::new("a future that spawns as it is dropped", move || {
            drops(on);
        }),
    ];
    // Loom has no room for two executors.
    if world::name() != "loom" {
        cases.push(Case::new("woken on another executor", move || {
            woken_elsewhere(on);
        }));
    }
    if world::name() == "std" {
        cases.push(Case::new("ten thousand wait on four threads", move || {
            parked(on, four, 10_000);
        }));
    }
    cases
}

/// Each waits on a channel of its own; the last is served first.
fn parked(on: Runtime, threads: NonZeroUsize, blocks: u32) {
    let executor = on.executors.with_threads(threads);
    let spawner = executor.spawner();
    let mut waiting = Vec::new();
    for _ in 0..blocks {
        let (tx, mut rx) = on.open::<u32>(1);
        let result = on.go(&spawner, async move { rx.take_async().await.ok() });
        waiting.push((tx, result));
    }
    let mut served = Vec::new();
    for (number, (mut tx, result)) in (0..blocks).zip(waiting).rev() {
        let put = world::block_on(tx.put_async(number));
        served.push((number, put.is_ok(), result));
    }
    let mut answers = Vec::new();
    for (number, put, mut result) in served {
        let answer = world::block_on(result.take_async());
        answers.push((number, put, answer));
    }
    drop(executor);
    for (number, put, answer) in answers {
        holds!(put, "C1: a put on an open channel was refused");
        holds_eq!(answer, Ok(number), "G2: a go block did not go on");
    }
}

/// On an executor of one thread.
fn blocking_waits_for_a_task(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
    let (mut question, mut asked) = on.open::<u32>(1);
    let (mut answer, mut answered) = on.open::<Result<u32, TakeError>>(1);
    executor.spawn_blocking(move || {
        let got = asked.take();
        let _ = answer.put(got);
    });
    executor.spawn(async move {
        let _ = question.put_async(7).await;
    });
    let got = world::block_on(answered.take_async());
    drop(executor);
    holds_eq!(got, Ok(Ok(7)), "G2: blocking work starved a task");
}

/// The second time on threads that are free, or about to be. Loom has no room for it.
fn blocking_waits_for_blocking(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
    let mut seen = Vec::new();
    let rounds = if world::name() == "loom" { 1 } else { 2 };
    for _ in 0..rounds {
        let (mut question, mut asked) = on.open::<u32>(1);
        let (mut answer, mut answered) = on.open::<Result<u32, TakeError>>(1);
        executor.spawn_blocking(move || {
            let got = asked.take();
            let _ = answer.put(got);
        });
        executor.spawn_blocking(move || {
            let _ = question.put(7);
        });
        seen.push(world::block_on(answered.take_async()));
    }
    drop(executor);
    let expected = vec![Ok(Ok(7)); rounds];
    holds_eq!(seen, expected, "G2: blocking work starved blocking work");
}

/// What a future that is ready holds is dropped with it, and spawns a task.
fn drops(on: Runtime) {
    struct Spawns(Spawner, Option<Tx<u32>>);
    impl Drop for Spawns {
        fn drop(&mut self) {
            let mut tx = self.1.take().expect("it is dropped once");
            self.0.spawn(async move {
                let _ = tx.put_async(7).await;
            });
        }
    }
    let executor = on.executors.with_threads(ONE);
    let (tx, mut rx) = on.open::<u32>(1);
    let held = Spawns(executor.spawner(), Some(tx));
    executor.spawn(poll_fn(move |_| {
        let _ = &held;
        Poll::Ready(())
    }));
    // A lock that is held by then is a deadlock here.
    let got = world::block_on(rx.take_async());
    drop(executor);
    holds_eq!(got, Ok(7), "G2: a task that a dropped future has spawned");
}

/// A task of another executor wakes it, and holds its thread until it has answered.
fn woken_elsewhere(on: Runtime) {
    let [own, other] = [(); 2].map(|()| on.executors.with_threads(ONE));
    let (mut question, mut asked) = on.open::<u32>(1);
    let (mut answer, mut answered) = on.open::<u32>(1);
    let (mut told, mut heard) = on.open::<Result<u32, TakeError>>(1);
    own.spawn(async move {
        if let Ok(number) = asked.take_async().await {
            let _ = answer.put_async(number).await;
        }
    });
    world::perturb();
    other.spawn(async move {
        let _ = question.put(7);
        let got = answered.take();
        let _ = told.put(got);
    });
    let got = world::block_on(heard.take_async());
    drop((own, other));
    holds_eq!(got, Ok(Ok(7)), "G2: a task waits for another executor");
}
