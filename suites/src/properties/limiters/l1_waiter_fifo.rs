//! L1 (`WaiterFifo`): who waits for a permit is served first come, first served.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use flowmeter_harness::limiter::{AsyncLimit, Attempt, BlockingLimit};
use flowmeter_harness::sync::World;

use super::{Form, Grant, PERIOD, limiter, nanos, pause, surely};
use crate::properties::form::ByThread;
use crate::properties::{Case, Property, Reliance};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "l1-waiter-fifo",
    statement: "Those who wait for a permit are served in the order in which they began to wait.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn async_cases<L: AsyncLimit, W: World>() -> Vec<Case> {
    vec![Case::new("async, by hand", by_hand::<L, W>)]
}

/// For a world in which a thread that lets time pass finds that all others wait.
pub(super) fn blocking_cases<L: BlockingLimit, W: World>() -> Vec<Case> {
    vec![
        Case::new("blocking, in turn", in_turn::<L, W>),
        Case::new("blocking, a try does not overtake", try_behind::<L, W>),
    ]
}

/// Futures polled by hand make the order of waiting certain; the first is always asked last, after one that
/// waits behind it and one that only just comes.
fn by_hand<L: AsyncLimit, W: World>() {
    let limiter = limiter::<L>(1, PERIOD);
    let begin = W::now_nanos();
    assert_eq!(limiter.try_acquire(), Attempt::Granted);
    let mut context = Context::from_waker(Waker::noop());
    let mut first = pin!(limiter.acquire_async());
    let mut second = pin!(limiter.acquire_async());
    if first.as_mut().poll(&mut context).is_ready() {
        assert!(
            W::now_nanos() - begin >= surely::<W>(nanos(PERIOD)),
            "L1: a permit that was away was granted"
        );
        return;
    }
    loop {
        if second.as_mut().poll(&mut context).is_ready() {
            after_others::<W>(begin, 1);
            return W::block_on(first);
        }
        let newcomer = pin!(limiter.acquire_async()).poll(&mut context);
        if newcomer.is_ready() {
            after_others::<W>(begin, 2);
            W::block_on(first);
            return W::block_on(second);
        }
        if first.as_mut().poll(&mut context).is_ready() {
            break;
        }
        W::yield_now();
    }
    W::block_on(second);
}

/// One is served while so many wait that came before it: they were granted permits too, unless it overtook them,
/// and have not been asked since. That takes a period for each.
fn after_others<W: World>(begin: u64, others: u32) {
    assert!(
        W::now_nanos() - begin >= surely::<W>(nanos((1 + others) * PERIOD)),
        "L1: somebody was served before {others} who waited longer"
    );
}

fn in_turn<L: BlockingLimit, W: World>() {
    let shared = Arc::new(limiter::<L>(1, PERIOD));
    ByThread::acquire(&*shared);
    let waiting: Vec<_> = (0..6)
        .map(|_| {
            let limiter = shared.clone();
            let waiter = W::spawn(move || Grant::of::<L, ByThread, W>(&limiter));
            pause::<L, ByThread>(Duration::from_nanos(1));
            waiter
        })
        .collect();
    let served: Vec<u64> = waiting
        .into_iter()
        .map(|waiter| W::join(waiter).returned)
        .collect();
    assert!(
        served.is_sorted(),
        "L1: waiters were served out of turn: {served:?}"
    );
}

/// The permit is back, and somebody waits for it: of two timers at one moment the try's was armed first, so it
/// comes before the waiter is awake.
fn try_behind<L: BlockingLimit, W: World>() {
    let shared = Arc::new(limiter::<L>(1, PERIOD));
    ByThread::acquire(&*shared);
    let limiter = shared.clone();
    let waiter = W::spawn(move || {
        pause::<L, ByThread>(PERIOD / 2);
        ByThread::acquire(&*limiter);
    });
    pause::<L, ByThread>(PERIOD);
    assert_ne!(
        shared.try_acquire(),
        Attempt::Granted,
        "L1: a try overtook somebody who waited"
    );
    W::join(waiter);
}
