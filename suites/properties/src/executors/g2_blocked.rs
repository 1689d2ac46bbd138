//! G2 (`RunsBesideBlocked`): tasks that block their threads hold up no other while a thread is idle.
//!
//! The smallest history that violates it:
//!
//! ```text
//! two threads, task 1         task 2
//! blocks until task 2 runs
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
    relied_on_by: Reliance::Nothing,
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

/// As many tasks as threads, and each blocks its thread until the next one has run. `by_one`: the first of them spawns
/// the others.
fn block(on: Runtime, threads: NonZeroUsize, by_one: bool) {
    let executor = on.executors.with_threads(threads);
    let spawner = executor.spawner();
    let (first, mut all) = on.open::<u32>(1);
    let mut answers = first;
    let mut waiting = Vec::new();
    for _ in 1..threads.get() {
        let (next, mut asked) = on.open::<u32>(1);
        waiting.push(async move {
            if let Ok(number) = asked.take() {
                let _ = answers.put(number);
            }
        });
        answers = next;
    }
    let last = async move {
        let _ = answers.put(7);
    };
    if by_one {
        let first = waiting.remove(0);
        let further = executor.spawner();
        spawner.spawn(async move {
            waiting.into_iter().for_each(|task| further.spawn(task));
            further.spawn(last);
            first.await;
        });
    } else {
        waiting.into_iter().for_each(|task| spawner.spawn(task));
        spawner.spawn(last);
    }
    let got = match world::name() {
        // A thread may look for tasks in vain for ever, which no world takes for a deadlock.
        "std" => until(end(), || match all.poll() {
            Polled::Done(number) => Some(number),
            Polled::WouldWait | Polled::Closed => None,
        }),
        _ => world::block_on(all.take_async()).ok(),
    };
    drop(executor);
    holds_eq!(
        got,
        Some(7),
        "G2: a task was not run, though a thread was idle"
    );
}
