//! G5: a go block has the bindings of whoever spawned it, and nobody else has.

use std::panic::resume_unwind;

use flowmeter_harness::channel::{Async, Blocking};
use flowmeter_harness::executor::{Bindings, Executors, Spawn, give_way, go};
use flowmeter_harness::sync::World;

use super::{Case, ONE, Property, Reliance, open};

pub(in super::super) const PROPERTY: Property = Property {
    name: "g5-bindings",
    statement: "A go block sees what was bound where it was spawned, whenever it runs, and no other block does.",
    relied_on_by: Reliance::Nobody,
};

pub(in super::super) fn cases<B, E, C, W>() -> Vec<Case>
where
    B: Bindings,
    E: Executors,
    C: Async + Blocking,
    W: World,
{
    let mut cases = vec![
        Case::new("in the block", in_the_block::<B, E, C, W>),
        Case::new("two blocks by turns", by_turns::<B, E, C, W>),
        Case::new("a block of a block", nested::<B, E, C, W>),
        Case::new("bound anew", bound_anew::<B>),
        Case::new("in blocking work", in_blocking_work::<B, E, C, W>),
    ];
    // Panics are the checkers' own language in the other worlds.
    if W::name() == "std" {
        cases.push(Case::new("after a panic", after_a_panic::<B, E, C, W>));
    }
    cases
}

/// What is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Depth(u32);

fn depth<B: Bindings>() -> Option<u32> {
    B::bound::<Depth>().map(|depth| depth.0)
}

fn take<C: Async, W: World>(mut results: C::Rx<u32>) -> Option<u32> {
    W::block_on(C::take_async(&mut results)).ok()
}

/// What it sees, before and after a turn of others; a block that is spawned where nothing is bound, on the same thread,
/// sees nothing.
fn in_the_block<B, E, C, W>()
where
    B: Bindings,
    E: Executors,
    C: Async,
    W: World,
{
    let executor = E::with_threads(ONE);
    let spawner = B::conveying(executor.spawner());
    let bound = B::bind(Depth(7), || {
        go::<C, _>(&spawner, async {
            let before = depth::<B>();
            give_way().await;
            before.filter(|before| depth::<B>() == Some(*before))
        })
    });
    let bound = take::<C, W>(bound);
    let plain = executor.spawner();
    let unbound = [
        go::<C, u32>(&spawner, async { depth::<B>() }),
        go::<C, u32>(&plain, async { depth::<B>() }),
    ];
    let unbound = unbound.map(take::<C, W>);
    drop(executor);
    let seen = (bound, unbound);
    let expected = (Some(7), [None; 2]);
    holds_eq!(seen, expected, "G5: a block sees not what was bound for it");
}

fn by_turns<B, E, C, W>()
where
    B: Bindings,
    E: Executors,
    C: Async,
    W: World,
{
    let executor = E::with_threads(ONE);
    let spawner = B::conveying(executor.spawner());
    let blocks = [1, 2].map(|number| {
        B::bind(Depth(number), || {
            go::<C, u32>(&spawner, async {
                give_way().await;
                depth::<B>()
            })
        })
    });
    let seen = blocks.map(take::<C, W>);
    drop(executor);
    let expected = [Some(1), Some(2)];
    holds_eq!(seen, expected, "G5: a block sees what others have bound");
}

/// A block that is spawned in a block, which has bound anew.
fn nested<B, E, C, W>()
where
    B: Bindings,
    E: Executors,
    C: Async,
    W: World,
{
    let executor = E::with_threads(ONE);
    let spawner = B::conveying(executor.spawner());
    let further = spawner.clone();
    let block = move || {
        go::<C, u32>(&spawner, async move {
            let mut inner = B::bind(Depth(depth::<B>()? + 1), || {
                go::<C, u32>(&further, async { depth::<B>() })
            });
            C::take_async(&mut inner).await.ok()
        })
    };
    let seen = take::<C, W>(B::bind(Depth(6), block));
    drop(executor);
    holds_eq!(seen, Some(7), "G5: a block of a block has not its bindings");
}

/// On one thread: the innermost of a type is seen, and the outer one after it.
fn bound_anew<B: Bindings>() {
    let seen = B::bind(Depth(1), || {
        let inner = B::bind("of another type", || B::bind(Depth(2), depth::<B>));
        (inner, depth::<B>(), B::bound::<&'static str>())
    });
    let after = depth::<B>();
    let expected = ((Some(2), Some(1), None), None);
    holds_eq!((seen, after), expected, "G5: not the innermost binding");
}

fn in_blocking_work<B, E, C, W>()
where
    B: Bindings,
    E: Executors,
    C: Async + Blocking,
    W: World,
{
    let executor = E::with_threads(ONE);
    let spawner = B::conveying(executor.spawner());
    let (mut tx, rx) = open::<C, u32>();
    B::bind(Depth(7), || {
        spawner.spawn_blocking(move || {
            if let Some(depth) = depth::<B>() {
                let _ = C::put(&mut tx, depth);
            }
            C::close(&tx);
        });
    });
    let seen = take::<C, W>(rx);
    drop(executor);
    holds_eq!(seen, Some(7), "G5: work does not see what was bound");
}

/// The thread on which a block panics has its own bindings again.
fn after_a_panic<B, E, C, W>()
where
    B: Bindings,
    E: Executors,
    C: Async,
    W: World,
{
    let executor = E::with_threads(ONE);
    let spawner = B::conveying(executor.spawner());
    let faulty = B::bind(Depth(7), || {
        go::<C, u32>(&spawner, async {
            resume_unwind(Box::new("a block's own fault"))
        })
    });
    let panicked = take::<C, W>(faulty);
    let after = take::<C, W>(go::<C, u32>(&executor.spawner(), async { depth::<B>() }));
    drop(executor);
    let expected = (None, None);
    holds_eq!(
        (panicked, after),
        expected,
        "G5: a panic left bindings behind"
    );
}
