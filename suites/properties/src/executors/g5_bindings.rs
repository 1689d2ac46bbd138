//! G5: a go block sees the bindings of its spawner's caller, and no other block sees them.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! thread: bind(7) { go A }      thread: go B
//! A reads 7
//! A yields
//!                               B reads 7: it was left on the thread
//! A reads nothing: its binding did not come back with it
//! ```

use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};

use flowmeter_harness::executor::{Spawn, give_way};
use flowmeter_harness::sync::world;

use super::super::gate::panics;
use super::{Case, Cases, Design, ONE, Property, Reliance, What};
use crate::design::Rx;
use crate::design::executors::{Bindings, Held, Spawner};

pub(in super::super) const PROPERTY: Property = Property {
    name: "g5-bindings",
    statement: "A go block sees what was bound where it was spawned, whenever it runs, and no other block does.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Executors(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::Bindings(bindings) = design.what else {
        return Vec::new();
    };
    let mut cases = vec![
        Case::new("in the block", move || in_the_block(bindings)),
        Case::new("two blocks by turns", move || by_turns(bindings)),
        Case::new("a block of a block", move || nested(bindings)),
        Case::new("bound anew", move || bound_anew(bindings)),
        Case::new("bound values that bind as they are dropped", move || {
            binds_as_it_goes(bindings)
        }),
        Case::new("in blocking work", move || in_blocking_work(bindings)),
    ];
    // Several pieces one after the other are more than loom has room for.
    if world::name() != "loom" {
        for first in [Piece::Task, Piece::Work] {
            for next in [Piece::Task, Piece::Work] {
                let name = format!("{next}, after {first} that was bound");
                cases.push(Case::new(name, move || {
                    nothing_is_left(bindings, first, next);
                }));
            }
        }
    }
    // In the other worlds the checkers use panics themselves.
    if world::name() == "std" {
        for piece in [Piece::Task, Piece::Work] {
            let name = format!("after {piece} that panics");
            cases.push(Case::new(name, move || after_a_panic(bindings, piece)));
        }
    }
    cases
}

/// What an executor runs.
#[derive(Clone, Copy)]
enum Piece {
    Task,
    Work,
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Piece::Task => "a task",
            Piece::Work => "blocking work",
        })
    }
}

impl Piece {
    /// What is bound where it runs.
    fn sees(self, bindings: Bindings, spawner: &Spawner) -> Option<u32> {
        let (mut tx, rx) = bindings.on.open::<u32>(1);
        let mut look = move || {
            if let Some(depth) = depth(bindings) {
                let _ = tx.offer(depth);
            }
            tx.close();
        };
        match self {
            Piece::Task => spawner.spawn(async move { look() }),
            Piece::Work => spawner.spawn_blocking(look),
        }
        take(rx)
    }
}

/// Pieces of both kinds share threads in some designs, and work goes to any free thread. So several pieces that are
/// bound come first. Those behind them have no bindings, whether or not their spawner conveys.
fn nothing_is_left(bindings: Bindings, first: Piece, next: Piece) {
    let executor = bindings.on.executors.with_threads(ONE);
    let plain = executor.spawner();
    let conveying = bindings.conveying(executor.spawner());
    let mut bound = Vec::new();
    let mut unbound = Vec::new();
    for _ in 0..3 {
        bound.push(bindings.bind(7_u32, || first.sees(bindings, &conveying)));
        for spawner in [&plain, &conveying] {
            unbound.push(next.sees(bindings, spawner));
        }
    }
    drop(executor);
    holds!(
        bound.iter().all(|seen| *seen == Some(7)),
        "G5: {first} sees not what was bound for it: {bound:?}"
    );
    holds!(
        unbound.iter().all(Option::is_none),
        "G5: {next} sees what was bound for another: {unbound:?}"
    );
}

fn depth(bindings: Bindings) -> Option<u32> {
    bindings.bound()
}

fn take(mut results: Rx<u32>) -> Option<u32> {
    world::block_on(results.take_async()).ok()
}

/// A block sees its binding before and after it yields. A block that is spawned without a binding sees none on the
/// same thread.
fn in_the_block(bindings: Bindings) {
    let executor = bindings.on.executors.with_threads(ONE);
    let spawner = bindings.conveying(executor.spawner());
    let bound = bindings.bind(7_u32, || {
        bindings.on.go(&spawner, async move {
            let before = depth(bindings);
            give_way().await;
            before.filter(|before| depth(bindings) == Some(*before))
        })
    });
    let bound = take(bound);
    let plain = executor.spawner();
    let unbound = [
        bindings.on.go(&spawner, async move { depth(bindings) }),
        bindings.on.go(&plain, async move { depth(bindings) }),
    ];
    let unbound = unbound.map(take);
    drop(executor);
    let seen = (bound, unbound);
    let expected = (Some(7), [None; 2]);
    holds_eq!(seen, expected, "G5: a block sees not what was bound for it");
}

fn by_turns(bindings: Bindings) {
    let executor = bindings.on.executors.with_threads(ONE);
    let spawner = bindings.conveying(executor.spawner());
    let blocks = [1, 2].map(|number| {
        bindings.bind(number, || {
            bindings.on.go(&spawner, async move {
                give_way().await;
                depth(bindings)
            })
        })
    });
    let seen = blocks.map(take);
    drop(executor);
    let expected = [Some(1), Some(2)];
    holds_eq!(seen, expected, "G5: a block sees what others have bound");
}

/// A block that is spawned in a block inside a new binding.
fn nested(bindings: Bindings) {
    let executor = bindings.on.executors.with_threads(ONE);
    let spawner = bindings.conveying(executor.spawner());
    let further = spawner.clone();
    let block = move || {
        bindings.on.go(&spawner, async move {
            let mut inner = bindings.bind(depth(bindings)? + 1, || {
                bindings.on.go(&further, async move { depth(bindings) })
            });
            inner.take_async().await.ok()
        })
    };
    let seen = take(bindings.bind(6_u32, block));
    drop(executor);
    holds_eq!(seen, Some(7), "G5: a block of a block has not its bindings");
}

/// On one thread: the innermost binding of a type is visible, and after it the outer one.
fn bound_anew(bindings: Bindings) {
    let seen = bindings.bind(1_u32, || {
        let inner = bindings.bind("of another type", || {
            bindings.bind(2_u32, move || depth(bindings))
        });
        (inner, depth(bindings), bindings.bound::<&'static str>())
    });
    let after = depth(bindings);
    let expected = ((Some(2), Some(1), None), None);
    holds_eq!((seen, after), expected, "G5: not the innermost binding");
}

/// A bound value that binds another as it is dropped, and keeps what it saw.
struct BindsAsItGoes(Bindings, Arc<OnceLock<Option<u32>>>);

impl Drop for BindsAsItGoes {
    fn drop(&mut self) {
        let seen = self.0.bind(3_u32, || depth(self.0));
        self.1.set(seen).expect("a value is dropped once");
    }
}

fn binds_as_it_goes(bindings: Bindings) {
    let seen = Arc::new(OnceLock::new());
    let held: Held = Arc::new(BindsAsItGoes(bindings, Arc::clone(&seen)));
    bindings.bind(1_u32, || bindings.bind(held, || ()));
    holds_eq!(
        seen.get(),
        Some(&Some(3)),
        "G5: what a bound value saw as it was dropped"
    );
}

fn in_blocking_work(bindings: Bindings) {
    let executor = bindings.on.executors.with_threads(ONE);
    let spawner = bindings.conveying(executor.spawner());
    let (mut tx, rx) = bindings.on.open::<u32>(1);
    bindings.bind(7_u32, || {
        spawner.spawn_blocking(move || {
            if let Some(depth) = depth(bindings) {
                let _ = tx.put(depth);
            }
            tx.close();
        });
    });
    let seen = take(rx);
    drop(executor);
    holds_eq!(seen, Some(7), "G5: work does not see what was bound");
}

/// After a task or work panics, its thread has its own bindings again.
fn after_a_panic(bindings: Bindings, piece: Piece) {
    const TIMES: u64 = 3;
    let executor = bindings.on.executors.with_threads(ONE);
    let plain = executor.spawner();
    let conveying = bindings.conveying(executor.spawner());
    let mut after = Vec::new();
    for times in 1..=TIMES {
        bindings.bind(7_u32, || {
            let fault = || resume_unwind(Box::new("a block's own fault"));
            match piece {
                Piece::Task => conveying.spawn(async move { fault() }),
                Piece::Work => conveying.spawn_blocking(fault),
            }
        });
        let panics = panics(&executor, times);
        holds_eq!(panics, times, "G1: panics of {piece} were not counted");
        after.push(piece.sees(bindings, &plain));
    }
    drop(executor);
    holds!(
        after.iter().all(Option::is_none),
        "G5: a panic left bindings behind: {after:?}"
    );
}
