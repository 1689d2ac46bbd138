//! L2 (`WakesOnce`): of many who wait each sleeps to its own grant, and nobody is woken for another's.

use std::future::poll_fn;
use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::sync::world;

use super::{Kept, PERIOD, claims, limiter, time_stands_still};
use crate::design::limiters::{Design, Limiters};
use crate::form::Way;
use crate::{Case, Cases, Property, Reliance};

pub(crate) const PROPERTY: Property = Property {
    name: "l2-one-wake",
    statement: "Each of many who wait is woken once, for its own grant.",
    relied_on_by: Reliance::Nobody,
    cases: Cases::Limiters(cases),
};

/// How many wait.
const CROWD: u64 = 1_000;

fn cases(design: &Design) -> Vec<Case> {
    // There each is woken at the moment of a grant.
    let owes = claims(design, Claim::WakesOnce) && time_stands_still();
    if !owes || !design.acquires.contains(&Way::Async) {
        return Vec::new();
    }
    let (limiters, kept) = (design.limiters, Kept::of(design));
    [1, 10]
        .map(|permits| {
            Case::new(
                format!("async, {CROWD} wait, {permits} at a time"),
                move || crowd(limiters, kept, permits),
            )
        })
        .into()
}

fn crowd(limiters: Limiters, kept: Kept, permits: u32) {
    let shared = limiter(limiters, permits, PERIOD);
    let nanosecond = limiter(limiters, 1, Duration::from_nanos(1));
    world::block_on(nanosecond.acquire_async());
    let begin = world::now_nanos();
    let waiting: Vec<_> = (0..CROWD)
        .map(|_| {
            let limiter = shared.clone();
            let waiter = world::spawn(move || {
                let mut acquiring = limiter.acquire_async();
                let mut polls = 0_u32;
                world::block_on(poll_fn(|context| {
                    polls += 1;
                    // Asked once, and once more when it is woken.
                    holds!(
                        polls <= 2,
                        "L2: one who waited was woken before its permit was there"
                    );
                    acquiring.as_mut().poll(context)
                }));
                world::now_nanos()
            });
            // Time passes when it waits: not everybody is at the limiter's state at once.
            world::block_on(nanosecond.acquire_async());
            waiter
        })
        .collect();
    let served: Vec<u64> = waiting.into_iter().map(world::join).collect();
    let last = served.iter().max().map_or(0, |at| *at - begin);
    let least = kept.limit(permits, PERIOD).least_for(CROWD);
    // The first came one after the other, and so they are back.
    holds!(
        (least..least + CROWD).contains(&last),
        "L2: {CROWD} of {permits} in {PERIOD:?} took {last} ns and not {least} ns"
    );
}
