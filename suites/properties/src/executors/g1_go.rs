//! G1: a go block returns a channel that gives its result and then closes. A block that panics ends alone and is
//! counted.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! go { 7 }              consumer
//!                       take -> 7
//!                       take waits for ever: the channel was not closed
//!
//! go { panics }         consumer
//!                       take waits for ever
//!                       the next go block never runs: the panic ended its thread
//! ```

use std::panic::resume_unwind;

use flowmeter_harness::channel::{Polled, TakeError};
use flowmeter_harness::executor::{Spawn, give_way};
use flowmeter_harness::sync::world;

use super::super::gate::{Gate, panics};
use super::{Case, Cases, Design, ONE, Property, Reliance, Runtime, What};
use crate::design::Rx;
use crate::patience::{end, until};

pub(in super::super) const PROPERTY: Property = Property {
    name: "g1-go",
    statement: "A go block gives a channel with its result, then closed; a panic closes it empty and is counted.",
    relied_on_by: Reliance::All,
    cases: Cases::Executors(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let What::Executors(on) = design.what else {
        return Vec::new();
    };
    let mut cases = vec![
        Case::new("a result", move || {
            ends_with(on, async { Some(7) }, Some(7));
        }),
        Case::new("a result after a turn of others", move || {
            let block = async {
                give_way().await;
                Some(7)
            };
            ends_with(on, block, Some(7));
        }),
        Case::new("nothing", move || ends_with(on, async { None }, None)),
        Case::new("a block that waits", move || waits(on)),
        Case::new("a block that waits for a block", move || nested(on)),
    ];
    // In the other worlds the checkers use panics themselves.
    if world::name() == "std" {
        cases.push(Case::new("panics", move || panicking(on)));
    }
    cases
}

/// All answers of the channel, up to the close.
fn answer(mut results: Rx<u32>) -> Vec<Result<u32, TakeError>> {
    let mut answers = Vec::new();
    loop {
        let answer = world::block_on(results.take_async());
        answers.push(answer);
        if answer.is_err() {
            return answers;
        }
    }
}

/// As [`answer`], until `end`.
fn answer_until(mut results: Rx<u32>, end: u64) -> Vec<Result<u32, TakeError>> {
    let mut answers = Vec::new();
    until(end, || {
        match results.poll() {
            Polled::Done(result) => answers.push(Ok(result)),
            Polled::Closed => answers.push(Err(TakeError::Closed)),
            Polled::WouldWait => {}
        }
        answers.last()?.err()
    });
    answers
}

fn judge(seen: Vec<Result<u32, TakeError>>, result: Option<u32>) {
    let closed = [Err(TakeError::Closed)];
    let expected: Vec<_> = result.into_iter().map(Ok).chain(closed).collect();
    holds_eq!(seen, expected, "G1: not the result and then closed");
}

fn ends_with(
    on: Runtime,
    block: impl Future<Output = Option<u32>> + Send + 'static,
    result: Option<u32>,
) {
    let executor = on.executors.with_threads(ONE);
    let results = on.go(&executor.spawner(), block);
    let seen = answer(results);
    drop(executor);
    judge(seen, result);
}

/// The block may already wait at the gate, or be about to, when the gate opens.
fn waits(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
    let gate = Gate::default();
    let pass = gate.pass();
    let results = on.go(&executor.spawner(), async move {
        pass.await;
        Some(7)
    });
    gate.open();
    let seen = answer(results);
    drop(executor);
    judge(seen, Some(7));
}

fn nested(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
    let spawner = executor.spawner();
    let results = on.go(&executor.spawner(), async move {
        let mut inner = on.go(&spawner, async { Some(6) });
        inner.take_async().await.ok().map(|six| six + 1)
    });
    let seen = answer(results);
    drop(executor);
    judge(seen, Some(7));
}

/// A go block, a task that it spawned and blocking work panic; the executor stays usable.
fn panicking(on: Runtime) {
    fn fault() -> ! {
        resume_unwind(Box::new("a task's own fault"))
    }
    let executor = on.executors.with_threads(ONE);
    let spawner = executor.spawner();
    let further = executor.spawner();
    let results = on.go(&spawner, async move {
        further.spawn(async { fault() });
        fault()
    });
    executor.spawn_blocking(|| fault());
    let end = end();
    let seen = answer_until(results, end);
    let after = answer_until(on.go(&spawner, async { Some(7) }), end);
    let panics = panics(&executor, 3);
    drop(executor);
    judge(seen, None);
    judge(after, Some(7));
    holds_eq!(panics, 3, "G1: panics were not counted");
}
