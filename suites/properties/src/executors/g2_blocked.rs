//! G2 (`RunsBesideBlocked`): as many tasks as threads run at once, even where each blocks its thread.
//!
//! The smallest history that violates it:
//!
//! ```text
//! two threads, task 1         task 2
//! blocks until both run
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
