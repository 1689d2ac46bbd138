//! G5: a go block has the bindings of whoever spawned it, and nobody else has.

use std::panic::resume_unwind;

use flowmeter_harness::executor::{Spawn, give_way};
use flowmeter_harness::sync::world;

use super::{Case, Cases, Design, ONE, Property, Reliance, What};
use crate::design::Rx;
use crate::design::executors::Bindings;

pub(in super::super) const PROPERTY: Property = Property {
    name: "g5-bindings",
    statement: "A go block sees what was bound where it was spawned, whenever it runs, and no other block does.",
    relied_on_by: Reliance::Nobody,
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
        Case::new("in blocking work", move || in_blocking_work(bindings)),
    ];
    // Panics are the checkers' own language in the other worlds.
    if world::name() == "std" {
        cases.push(Case::new("after a panic", move || after_a_panic(bindings)));
    }
    cases
}

fn depth(bindings: Bindings) -> Option<u32> {
    bindings.bound()
}

fn take(mut results: Rx<u32>) -> Option<u32> {
    world::block_on(results.take_async()).ok()
}

/// What it sees, before and after a turn of others; a block that is spawned where nothing is bound, on the same thread,
/// sees nothing.
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

/// A block that is spawned in a block, which has bound anew.
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

/// On one thread: the innermost of a type is seen, and the outer one after it.
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

/// The thread on which a block panics has its own bindings again.
fn after_a_panic(bindings: Bindings) {
    let executor = bindings.on.executors.with_threads(ONE);
    let spawner = bindings.conveying(executor.spawner());
    let faulty = bindings.bind(7_u32, || {
        bindings.on.go(&spawner, async move {
            resume_unwind(Box::new("a block's own fault"))
        })
    });
    let panicked = take(faulty);
    let after = take(
        bindings
            .on
            .go(&executor.spawner(), async move { depth(bindings) }),
    );
    drop(executor);
    let expected = (None, None);
    holds_eq!(
        (panicked, after),
        expected,
        "G5: a panic left bindings behind"
    );
}
