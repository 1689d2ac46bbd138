//! L2 (`WakesOnce`): of many who wait each sleeps to its own grant, and nobody is woken for another's.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::limiter::AsyncLimit;
use flowmeter_harness::sync::World;

use super::{Kept, PERIOD, limiter};
use crate::properties::{Case, Property, Reliance};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "l2-one-wake",
    statement: "Each of many who wait is woken once, for its own grant.",
    relied_on_by: Reliance::Nobody,
};

/// How many wait.
const CROWD: u64 = 1_000;

/// For a world in which everybody is woken at the moment of a grant.
pub(super) fn cases<L: AsyncLimit, W: World>(kept: Kept) -> Vec<Case> {
    [1, 10]
        .map(|permits| {
            Case::new(
                format!("async, {CROWD} wait, {permits} at a time"),
                move || crowd::<L, W>(kept, permits),
            )
        })
        .into()
}

fn crowd<L: AsyncLimit, W: World>(kept: Kept, permits: u32) {
    let shared = Arc::new(limiter::<L>(permits, PERIOD));
    let nanosecond = limiter::<L>(1, Duration::from_nanos(1));
    W::block_on(nanosecond.acquire_async());
    let begin = W::now_nanos();
    let waiting: Vec<_> = (0..CROWD)
        .map(|_| {
            let limiter = shared.clone();
            let waiter = W::spawn(move || {
                let mut acquiring = pin!(limiter.acquire_async());
                let mut polls = 0_u32;
                W::block_on(poll_fn(|context| {
                    polls += 1;
                    // Asked once, and once more when it is woken.
                    holds!(
                        polls <= 2,
                        "L2: one who waited was woken before its permit was there"
                    );
                    acquiring.as_mut().poll(context)
                }));
                W::now_nanos()
            });
            // Time passes when it waits: not everybody is at the limiter's state at once.
            W::block_on(nanosecond.acquire_async());
            waiter
        })
        .collect();
    let served: Vec<u64> = waiting.into_iter().map(W::join).collect();
    let last = served.iter().max().map_or(0, |at| *at - begin);
    let least = kept.limit::<W>(permits, PERIOD).least_for(CROWD);
    // The first came one after the other, and so they are back.
    holds!(
        (least..least + CROWD).contains(&last),
        "L2: {CROWD} of {permits} in {PERIOD:?} took {last} ns and not {least} ns"
    );
}
