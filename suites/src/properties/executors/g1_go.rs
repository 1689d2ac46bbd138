//! G1: a go block gives a channel with its result, then closed; one that panics ends alone and is counted.

use std::panic::resume_unwind;

use flowmeter_harness::channel::{Async, Blocking, Polled, TakeError};
use flowmeter_harness::executor::{Executors, Spawn, give_way, go};
use flowmeter_harness::sync::World;

use super::super::gate::{Gate, panics_of};
use super::{Case, ONE, Property, Reliance};

pub(in super::super) const PROPERTY: Property = Property {
    name: "g1-go",
    statement: "A go block gives a channel with its result, then closed; a panic closes it empty and is counted.",
    relied_on_by: Reliance::Everybody,
};

pub(super) fn cases<E, C, W>() -> Vec<Case>
where
    E: Executors,
    C: Async + Blocking,
    W: World,
{
    let mut cases = vec![
        Case::new("a result", || {
            ends_with::<E, C, W>(async { Some(7) }, Some(7));
        }),
        Case::new("a result after a turn of others", || {
            let block = async {
                give_way().await;
                Some(7)
            };
            ends_with::<E, C, W>(block, Some(7));
        }),
        Case::new("nothing", || ends_with::<E, C, W>(async { None }, None)),
        Case::new("a block that waits", waits::<E, C, W>),
        Case::new("a block that waits for a block", nested::<E, C, W>),
    ];
    // Panics are the checkers' own language in the other worlds.
    if W::name() == "std" {
        cases.push(Case::new("panics", panicking::<E, C, W>));
    }
    cases
}

/// What the channel gives before it closes.
fn answer<C: Async, W: World>(mut results: C::Rx<u32>) -> Vec<Result<u32, TakeError>> {
    let mut answers = Vec::new();
    loop {
        let answer = W::block_on(C::take_async(&mut results));
        answers.push(answer);
        if answer.is_err() {
            return answers;
        }
    }
}

/// As [`answer`], without what comes later than `end`: real time only, where a wait for what never comes is a hang
/// and no answer.
fn answer_until<C: Async, W: World>(
    mut results: C::Rx<u32>,
    end: u64,
) -> Vec<Result<u32, TakeError>> {
    let mut answers = Vec::new();
    while W::now_nanos() < end {
        match C::poll(&mut results) {
            Polled::Done(result) => answers.push(Ok(result)),
            Polled::Closed => {
                answers.push(Err(TakeError::Closed));
                break;
            }
            Polled::WouldWait => W::yield_now(),
        }
    }
    answers
}

fn judge(seen: Vec<Result<u32, TakeError>>, result: Option<u32>) {
    let closed = [Err(TakeError::Closed)];
    let expected: Vec<_> = result.into_iter().map(Ok).chain(closed).collect();
    holds_eq!(seen, expected, "G1: not the result and then closed");
}

fn ends_with<E, C, W>(
    block: impl Future<Output = Option<u32>> + Send + 'static,
    result: Option<u32>,
) where
    E: Executors,
    C: Async,
    W: World,
{
    let executor = E::with_threads(ONE);
    let results = go::<C, _>(&executor.spawner(), block);
    let seen = answer::<C, W>(results);
    drop(executor);
    judge(seen, result);
}

/// The block may already wait, or be on its way to, when it is let through.
fn waits<E, C, W>()
where
    E: Executors,
    C: Async,
    W: World,
{
    let executor = E::with_threads(ONE);
    let gate = Gate::default();
    let pass = gate.pass();
    let results = go::<C, _>(&executor.spawner(), async move {
        pass.await;
        Some(7)
    });
    gate.open();
    let seen = answer::<C, W>(results);
    drop(executor);
    judge(seen, Some(7));
}

fn nested<E, C, W>()
where
    E: Executors,
    C: Async,
    W: World,
{
    let executor = E::with_threads(ONE);
    let spawner = executor.spawner();
    let results = go::<C, _>(&executor.spawner(), async move {
        let mut inner = go::<C, u32>(&spawner, async { Some(6) });
        C::take_async(&mut inner).await.ok().map(|six| six + 1)
    });
    let seen = answer::<C, W>(results);
    drop(executor);
    judge(seen, Some(7));
}

/// Of a go block, of a task spawned by a task and of blocking work; the executor goes on.
fn panicking<E, C, W>()
where
    E: Executors,
    C: Async,
    W: World,
{
    /// In nanoseconds; only a failure takes as long.
    const PATIENCE: u64 = 5_000_000_000;
    fn fault() -> ! {
        resume_unwind(Box::new("a task's own fault"))
    }
    let executor = E::with_threads(ONE);
    let spawner = executor.spawner();
    let further = executor.spawner();
    let results = go::<C, u32>(&spawner, async move {
        further.spawn(async { fault() });
        fault()
    });
    executor.spawn_blocking(|| fault());
    let end = W::now_nanos().saturating_add(PATIENCE);
    let seen = answer_until::<C, W>(results, end);
    let after = answer_until::<C, W>(go::<C, _>(&spawner, async { Some(7) }), end);
    let panics = panics_of::<E, W>(&executor, 3, PATIENCE);
    drop(executor);
    judge(seen, None);
    judge(after, Some(7));
    holds_eq!(panics, 3, "G1: panics were not counted");
}
