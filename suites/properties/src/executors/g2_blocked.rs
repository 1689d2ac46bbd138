//! G2 (`RunsBesideBlocked`): as many tasks as threads run at once, even where each blocks its thread.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! two threads, task 1         task 2
//! blocks until both run
//!                             never runs, though a thread is idle
//!
//!                             waits for task 1
//! wakes task 2, and blocks
//! until it has run
//!                             never runs, though a thread is idle
//! ```

use std::num::NonZeroUsize;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::Polled;
use flowmeter_harness::executor::Spawn as _;
use flowmeter_harness::sync::world;

use super::{Case, Cases, Design, ONE, Property, Reliance, Runtime, What};
use crate::patience::{end, until};

pub(in super::super) const PROPERTY: Property = Property {
    name: "g2-blocked",
    statement: "As many tasks as threads run at once, even where each blocks its thread.",
    relied_on_by: Reliance::All,
    cases: Cases::Executors(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::Executors(on) = design.what else {
        return Vec::new();
    };
    if !design.claims(Claim::RunsBesideBlocked) {
        return Vec::new();
    }
    let two = ONE.saturating_add(1);
    let mut cases = vec![Case::new("two that block on two threads", move || {
        block(on, two, false);
    })];
    cases.push(Case::new("one that blocks for a task it woke", move || {
        wakes_and_blocks(on);
    }));
    // Loom has no room for more threads.
    if world::name() != "loom" {
        let three = two.saturating_add(1);
        let name = "three that block on three threads";
        cases.push(Case::new(name, move || block(on, three, false)));
        let name = "three that block on three threads, two of them spawned by one";
        cases.push(Case::new(name, move || block(on, three, true)));
    }
    cases
}

/// As many tasks as threads, and each blocks its thread until all have begun. `by_one`: the first of them spawns the others.
fn block(on: Runtime, threads: NonZeroUsize, by_one: bool) {
    let executor = on.executors.with_threads(threads);
    let spawner = executor.spawner();
    let (begins, mut begun) = on.open::<()>(threads.get());
    let mut releases = Vec::new();
    let mut tasks = Vec::new();
    for _ in 0..threads.get() {
        let mut begins = begins.another().expect("tasks share the channel");
        let (release, mut released) = on.open::<()>(1);
        releases.push(release);
        tasks.push(async move {
            let _ = begins.put(());
            let _ = released.take();
        });
    }
    if by_one {
        let first = tasks.remove(0);
        let further = executor.spawner();
        spawner.spawn(async move {
            tasks.into_iter().for_each(|task| further.spawn(task));
            first.await;
        });
    } else {
        tasks.into_iter().for_each(|task| spawner.spawn(task));
    }
    let end = end();
    let has_begun = |_: &usize| match world::name() {
        // Real threads would wait for ever for a task that does not begin. The other worlds report a deadlock.
        "std" => until(end, || (begun.poll() == Polled::Done(())).then_some(())).is_some(),
        _ => world::block_on(begun.take_async()).is_ok(),
    };
    let seen = (0..threads.get()).filter(has_begun).count();
    // Ends the tasks.
    drop(releases);
    drop(executor);
    holds_eq!(
        seen,
        threads.get(),
        "G2: a task did not begin, though a thread was idle"
    );
}

/// On two threads one task asks and the other one answers. After some times a task comes from outside. After some more
/// the one that asks blocks its thread until it has the answer. An executor may have learned where to run a woken task.
fn wakes_and_blocks(on: Runtime) {
    // Loom has no room for more.
    let (rounds, times) = match world::name() {
        "loom" => (1, 0),
        _ => (2, 3),
    };
    let executor = on.executors.with_threads(ONE.saturating_add(1));
    let (mut asks, mut asked) = on.open::<()>(1);
    let (mut answers, mut answered) = on.open::<()>(1);
    let (mut ends, mut ended) = on.open::<()>(1);
    let (begins, mut begun) = on.open::<()>(1);
    let spawner = executor.spawner();
    spawner.spawn(async move {
        while asked.take_async().await.is_ok() {
            let _ = answers.put_async(()).await;
        }
    });
    spawner.spawn(async move {
        for _ in 0..rounds {
            for time in 0..2 * times {
                let _ = asks.put_async(()).await;
                let _ = answered.take_async().await;
                if time + 1 == times {
                    let _ = ends.put_async(()).await;
                    let _ = begun.take_async().await;
                }
            }
            let _ = asks.put(());
            let _ = answered.take();
            let _ = ends.put_async(()).await;
        }
    });
    // Real threads would wait for ever for a task that does not run. The other worlds report a deadlock.
    let end = end();
    let mut has_ended = || match world::name() {
        "std" => until(end, || (ended.poll() == Polled::Done(())).then_some(())).is_some(),
        _ => world::block_on(ended.take_async()).is_ok(),
    };
    for _ in 0..rounds {
        if times > 0 {
            holds!(has_ended(), "G2: tasks that wait for each other stopped");
            let mut begins = begins.another().expect("tasks share the channel");
            spawner.spawn(async move {
                let _ = begins.put_async(()).await;
            });
        }
        holds!(
            has_ended(),
            "G2: a woken task did not run, though a thread was idle"
        );
    }
    drop(executor);
}
