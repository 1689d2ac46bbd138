//! G1, at the end: dropping an executor drops its waiting tasks, so that their channels close. Blocking work that has begun
//! ends first, and no thread is left.
//!
//! The smallest history that violates it:
//!
//! ```text
//! thread                          executor
//! go { wait for ever } -> rx
//! drop(executor) returns
//! rx.poll -> would wait           the block is still held, and its channel open
//! ```

use std::future::{pending, poll_fn};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Waker};

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Polled, TakeError};
use flowmeter_harness::executor::{Spawn, give_way};
use flowmeter_harness::sync::world;

use super::{Case, Cases, Design, ONE, Property, Reliance, Runtime, What};
use crate::acts;
use crate::design::Tx;
use crate::design::executors::{Executor, Spawner, Work};

pub(in super::super) const PROPERTY: Property = Property {
    name: "g1-shutdown",
    statement: "An executor that is dropped drops what waits, closes the channels of its go blocks and joins its threads.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Executors(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::Executors(on) = design.what else {
        return Vec::new();
    };
    let mut cases = vec![
        Case::new("a block that never ends", move || {
            shut_down(on, pending::<Option<u32>>());
        }),
        Case::new("a block that waits and goes on", move || {
            shut_down(on, async {
                for _ in 0..3 {
                    give_way().await;
                }
                pending().await
            });
        }),
        Case::new("a waker that outlives it", move || late_waker(on)),
        Case::new("a waker that is used as it ends", move || {
            woken_at_the_end(on)
        }),
        Case::new("a spawner that outlives it", move || late_spawner(on)),
        Case::new("a spawner that is used as it ends", move || {
            spawned_at_the_end(on);
        }),
        Case::new("blocking work", move || blocking_work(on, drop)),
        Case::new("blocking work that may not have begun", move || {
            work_at_once(on);
        }),
        Case::new(
            "blocking work that waits for what a task holds",
            move || {
                work_waits_for_a_task(on);
            },
        ),
        Case::new("what a task holds uses its executor", move || {
            drops_that_act(on);
        }),
        Case::new("in its own task", move || {
            on_its_own_thread(on, |spawner, work| {
                spawner.spawn(async move { work() });
            });
        }),
        Case::new("in its own blocking work", move || {
            on_its_own_thread(on, |spawner, work| spawner.spawn_blocking(work));
        }),
    ];
    // Loom has no room for two executors.
    if world::name() != "loom" {
        let name = "blocking work, in a task of another executor";
        cases.push(Case::new(name, move || {
            blocking_work(on, |executor| dropped_by_another(on, executor));
        }));
    }
    // In the other worlds the checkers use panics themselves.
    if design.claims(Claim::PanicSafe) && world::name() == "std" {
        let name = "tasks that panic as they are dropped";
        cases.push(Case::new(name, move || panicking_drops(on)));
        let name = "a task that panics as it is dropped after its last poll";
        cases.push(Case::new(name, move || panicking_after_a_poll(on)));
    }
    cases
}

/// All that the block holds is dropped with the executor, whatever the block is doing.
fn shut_down(on: Runtime, block: impl Future<Output = Option<u32>> + Send + 'static) {
    let executor = on.executors.with_threads(ONE);
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let mut results = on.go(&executor.spawner(), async move {
        let _held = held;
        block.await
    });
    drop(executor);
    let left = (results.poll(), Arc::strong_count(&alive));
    holds_eq!(
        left,
        (Polled::Closed, 1),
        "G1: a task outlived its executor, or its channel is open"
    );
}

/// The task waits on a channel when its executor is dropped. A later put wakes no task.
fn late_waker(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
    let (mut tx, mut rx) = on.open::<u32>(1);
    // Keeps the channel open, so that only the task can close the result.
    let _stays = rx.another();
    let mut results = on.go(
        &executor.spawner(),
        async move { rx.take_async().await.ok() },
    );
    drop(executor);
    let _ = tx.offer(7);
    let answer = results.poll();
    holds_eq!(answer, Polled::Closed, "G1: a task outlived its executor");
}

/// As [`late_waker`], while the executor is dropped. Loom and shuttle report a task that stays in a queue.
fn woken_at_the_end(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
    let (mut tx, mut rx) = on.open::<u32>(1);
    let mut results = on.go(
        &executor.spawner(),
        async move { rx.take_async().await.ok() },
    );
    let waking = world::spawn(move || {
        world::perturb();
        let _ = tx.offer(7);
        tx
    });
    world::perturb();
    drop(executor);
    drop(world::join(waking));
    let answer = results.poll();
    holds!(
        matches!(answer, Polled::Closed | Polled::Done(7)),
        "G1: a task was woken as its executor ended, and answers {answer:?}"
    );
}

fn late_spawner(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
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

/// A task that waits and a piece of work, spawned while the executor is dropped, have gone once both is over.
fn spawned_at_the_end(on: Runtime) {
    for _ in 0..acts::turns() {
        let executor = on.executors.with_threads(ONE);
        let spawner = executor.spawner();
        let alive = Arc::new(());
        let [task_held, work_held] = [(); 2].map(|()| Arc::clone(&alive));
        let spawning = world::spawn(move || {
            world::perturb();
            spawner.spawn(async move {
                let _held = task_held;
                pending::<()>().await;
            });
            spawner.spawn_blocking(move || drop(work_held));
        });
        world::perturb();
        // A task that is not ended is a deadlock here.
        drop(executor);
        world::join(spawning);
        let holders = Arc::strong_count(&alive);
        holds_eq!(holders, 1, "G1: a task outlived its executor");
    }
}

/// The work is over when the executor is dropped, whether or not it ran.
fn work_at_once(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    executor.spawner().spawn_blocking(move || drop(held));
    drop(executor);
    let holders = Arc::strong_count(&alive);
    holds_eq!(holders, 1, "G1: blocking work outlived its executor");
}

/// The work that drops the executor ends, and the waiting tasks are dropped.
fn on_its_own_thread(on: Runtime, run: impl FnOnce(&Spawner, Work)) {
    let executor = on.executors.with_threads(ONE);
    let spawner = executor.spawner();
    let mut results = on.go::<u32>(&spawner, pending());
    let (mut tx, mut dropped) = on.open::<()>(1);
    run(
        &spawner,
        Box::new(move || {
            drop(executor);
            let _ = tx.offer(());
        }),
    );
    let seen = world::block_on(dropped.take_async());
    holds_eq!(seen, Ok(()), "G1: the drop did not return");
    let answer = world::block_on(results.take_async());
    let closed = Err(TakeError::Closed);
    holds_eq!(answer, closed, "G1: the channel was not closed");
}

/// The work ends once the executor has dropped the task, so tasks are dropped before work is waited for.
fn work_waits_for_a_task(on: Runtime) {
    struct Closes(Tx<()>);
    impl Drop for Closes {
        fn drop(&mut self) {
            self.0.close();
        }
    }
    let executor = on.executors.with_threads(ONE);
    let (held, mut closes) = on.open::<()>(1);
    let held = Closes(held);
    executor.spawn(async move {
        let _held = held;
        pending::<()>().await;
    });
    let (mut begun, mut begins) = on.open::<()>(1);
    executor.spawn_blocking(move || {
        let _ = begun.put(());
        let _ = closes.take();
    });
    let seen = world::block_on(begins.take_async());
    // Work that is waited for too soon is a deadlock here.
    drop(executor);
    holds_eq!(seen, Ok(()), "G2: blocking work did not run");
}

/// What a task holds is dropped with no lock held, wherever the task is at the end, and where it comes after the end: it may
/// spawn and wake.
fn drops_that_act(on: Runtime) {
    struct Acts(Spawner, Option<Waker>);
    impl Drop for Acts {
        fn drop(&mut self) {
            self.0.spawn(async {});
            self.1.take().into_iter().for_each(Waker::wake);
        }
    }
    let executor = on.executors.with_threads(ONE);
    let alive = Arc::new(());
    for _ in 0..2 {
        let held = Arc::clone(&alive);
        let mut acts = Acts(executor.spawner(), None);
        executor.spawn(async move {
            let _held = held;
            poll_fn(|context| {
                acts.1 = Some(context.waker().clone());
                Poll::Ready(())
            })
            .await;
            give_way().await;
            pending::<()>().await;
            drop(acts);
        });
    }
    // A lock that is held then is a deadlock here.
    let spawner = executor.spawner();
    drop(executor);
    let refused = Acts(spawner.clone(), None);
    spawner.spawn(async move { drop(refused) });
    let holders = Arc::strong_count(&alive);
    holds_eq!(holders, 1, "G1: a task outlived its executor");
}

struct Faulty;

impl Drop for Faulty {
    fn drop(&mut self) {
        // `resume_unwind` skips the panic hook, which would print it.
        resume_unwind(Box::new("a drop's own fault"));
    }
}

/// All tasks are dropped, though each panics then.
fn panicking_drops(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
    let alive = Arc::new(());
    for _ in 0..3 {
        let held = (Faulty, Arc::clone(&alive));
        executor.spawn(async move {
            let _held = held;
            pending::<()>().await;
        });
    }
    drop(executor);
    let holders = Arc::strong_count(&alive);
    holds_eq!(holders, 1, "G1: a task outlived its executor");
}

/// The drop may come while the task is polled. The panic stays in the executor, and its work is waited for.
fn panicking_after_a_poll(on: Runtime) {
    for _ in 0..acts::turns() {
        let executor = on.executors.with_threads(ONE);
        let alive = Arc::new(());
        let held = (Faulty, Arc::clone(&alive));
        let (mut polled, mut polls) = on.open::<()>(1);
        let ends = Arc::new(AtomicBool::new(false));
        let is_at_end = Arc::clone(&ends);
        executor.spawn(async move {
            let _held = held;
            let _ = polled.put_async(()).await;
            while !is_at_end.load(Ordering::Acquire) {
                world::yield_now();
            }
            (0..4).for_each(|_| world::yield_now());
            pending::<()>().await;
        });
        let (mut begun, mut begins) = on.open::<()>(1);
        let work_held = Arc::clone(&alive);
        executor.spawn_blocking(move || {
            let _held = work_held;
            let _ = begun.put(());
            (0..16).for_each(|_| world::yield_now());
        });
        let seen = world::block_on(begins.take_async());
        holds_eq!(seen, Ok(()), "G2: blocking work did not run");
        let _ = world::block_on(polls.take_async());
        ends.store(true, Ordering::Release);
        drop(executor);
        let holders = Arc::strong_count(&alive);
        holds_eq!(holders, 1, "G1: a task or its work outlived its executor");
    }
}

/// Drops the executor in a task of another one, and waits for the end of the drop.
fn dropped_by_another(on: Runtime, executor: Executor) {
    let other = on.executors.with_threads(ONE);
    let (mut tx, mut dropped) = on.open::<()>(1);
    other.spawn(async move {
        drop(executor);
        let _ = tx.offer(());
    });
    let seen = world::block_on(dropped.take_async());
    holds_eq!(seen, Ok(()), "G1: the drop did not return");
}

/// Work that has begun ends before the drop of the executor returns.
fn blocking_work(on: Runtime, end: impl FnOnce(Executor)) {
    let executor = on.executors.with_threads(ONE);
    let (mut begun, mut begins) = on.open::<()>(1);
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    executor.spawn_blocking(move || {
        let _held = held;
        let _ = begun.put(());
        world::yield_now();
    });
    let seen = world::block_on(begins.take_async());
    end(executor);
    let holders = Arc::strong_count(&alive);
    holds_eq!(seen, Ok(()), "G2: blocking work did not run");
    holds_eq!(holders, 1, "G1: blocking work outlived its executor");
}
