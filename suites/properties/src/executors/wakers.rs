//! G1 and G3 under changing wakers: a go block that moves to another task, and a handle of a block that is awaited by
//! another task than the one that polled it first. What they wait for wakes the latest waker.
//!
//! The smallest history that violates it:
//!
//! ```text
//! block: take a           other thread
//! polled by waker 0
//! polled by waker 1
//!                         puts to a: wakes waker 0
//! waits for ever
//! ```

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::Order;
use flowmeter_harness::executor::{Port, Step, give_way};
use flowmeter_harness::sync::world;

use super::super::gate::Gate;
use super::{Case, Cases, Design, ONE, Property, Reliance, Runtime, What};
use crate::bell::Bell;
use crate::design::executors::{GoBlocks, Spawner, State};
use crate::design::{Rx, Tx};
use crate::moving::Moving;

pub(in super::super) const TASKS: Property = Property {
    name: "g1-wakers",
    statement: "A go block that moves between tasks, and one that awaits its handle, are woken by the latest waker.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Executors(of_tasks),
};

pub(in super::super) const BLOCKS: Property = Property {
    name: "g3-wakers",
    statement: "A go block written as a state machine is woken by the waker of its latest poll, whatever it waits for.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Executors(of_blocks),
};

fn of_tasks(design: &Design) -> Vec<Case> {
    let What::Executors(on) = design.what else {
        return Vec::new();
    };
    vec![
        Case::new("a handle", move || handle(on)),
        Case::new("a block that waits", move || waits(on)),
        Case::new("a block that waits for a block", move || nested(on)),
    ]
}

fn of_blocks(design: &Design) -> Vec<Case> {
    let What::GoBlocks(blocks) = design.what else {
        return Vec::new();
    };
    vec![
        Case::new("a take", move || takes(blocks)),
        Case::new("a put", move || puts(blocks)),
        Case::new("an alts", move || selects(blocks)),
    ]
}

/// That future, polled once under a waker that reaches nothing before each poll of its own.
fn moved<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    world::block_on(poll_fn(|context| {
        let left = Waker::from(Arc::new(Bell::default()));
        match future.as_mut().poll(&mut Context::from_waker(&left)) {
            Poll::Pending => future.as_mut().poll(context),
            ready => ready,
        }
    }))
}

/// The result comes while the handle is polled, or before.
fn handle(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
    let gate = Gate::default();
    let pass = gate.pass();
    let mut results = on.go(&executor.spawner(), async move {
        pass.await;
        Some(7)
    });
    let opens = world::spawn(move || gate.open());
    // A handle that is not woken is a deadlock here.
    let seen = [(); 2].map(|()| moved(results.take_async()).ok());
    world::join(opens);
    drop(executor);
    holds_eq!(seen, [Some(7), None], "G1: not the result and then closed");
}

/// The block waits for a turn of others, and for two values of a channel.
fn waits(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
    let (mut tx, mut rx) = on.open::<u32>(1);
    let mut results = on.go(&Moving(executor.spawner()), async move {
        give_way().await;
        let first = rx.take_async().await.ok()?;
        Some(first + rx.take_async().await.ok()?)
    });
    for value in [3, 4] {
        let put = moved(tx.put_async(value));
        assert_eq!(put, Ok(()), "it is open");
    }
    let seen = moved(results.take_async());
    drop(executor);
    holds_eq!(seen, Ok(7), "G1: the result of a block that moves");
}

fn nested(on: Runtime) {
    let executor = on.executors.with_threads(ONE);
    let spawner = Moving(executor.spawner());
    let mut results = on.go(&Moving(executor.spawner()), async move {
        let mut inner = on.go(&spawner, async {
            give_way().await;
            Some(6)
        });
        inner.take_async().await.ok().map(|six| six + 1)
    });
    let seen = moved(results.take_async());
    drop(executor);
    holds_eq!(
        seen,
        Ok(7),
        "G1: the result of a block that waits for a block"
    );
}

/// Runs `act` with an executor whose tasks move.
fn moving<R>(blocks: GoBlocks, act: impl FnOnce(&Spawner) -> R) -> R {
    let executor = blocks.on.executors.with_threads(ONE);
    let seen = act(&Spawner::of(Moving(executor.spawner())));
    drop(executor);
    seen
}

fn all<T: Send + 'static>(mut rx: Rx<T>) -> Vec<T> {
    std::iter::from_fn(|| world::block_on(rx.take_async()).ok()).collect()
}

fn put(tx: &mut Tx<u32>, value: u32) {
    let put = world::block_on(tx.put_async(value));
    assert_eq!(put, Ok(()), "it is open");
}

fn takes(blocks: GoBlocks) {
    let (mut tx, rx) = blocks.on.open::<u32>(1);
    let results = moving(blocks, |go| {
        let results = blocks.go(go, move |frame, state| match state {
            State::Took(answer) => Step::Return(answer.ok()),
            _ => frame.take(&rx),
        });
        put(&mut tx, 7);
        all(results)
    });
    holds_eq!(results, [7], "G3: what a block that moves has taken");
}

fn puts(blocks: GoBlocks) {
    let (mut to, mut rx) = blocks.on.open::<u32>(1);
    // There is no room yet.
    put(&mut to, 6);
    let seen = moving(blocks, |go| {
        let results = blocks.go(go, move |frame, state| match state {
            State::Put(answer) => Step::Return(Some(answer.is_ok())),
            _ => frame.put(&to, 7),
        });
        let taken = [(); 2].map(|()| world::block_on(rx.take_async()));
        (taken, all(results))
    });
    holds_eq!(
        seen,
        ([Ok(6), Ok(7)], vec![true]),
        "G3: what a block that moves has put"
    );
}

fn selects(blocks: GoBlocks) {
    let (mut tx, rx) = blocks.on.open::<u32>(1);
    let (_never, idle) = blocks.on.open::<u32>(1);
    let results = moving(blocks, |go| {
        let mut ports = Some(vec![Port::Take(idle), Port::Take(rx)]);
        let results = blocks.go(go, move |frame, state| match state {
            State::Selected(selected) => Step::Return(selected.taken),
            _ => {
                let ports = ports.take().expect("it begins once");
                frame.alts(ports, Order::Random, pending())
            }
        });
        put(&mut tx, 7);
        all(results)
    });
    holds_eq!(
        results,
        [7],
        "G3: what an alts of a block that moves has taken"
    );
}
