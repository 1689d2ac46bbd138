//! L2 (`WakesOnce`): each of many waiters sleeps until its own grant, and is not woken for another's.
//!
//! The smallest history that violates it:
//!
//! ```text
//! waiter 1          waiter 2           limiter, one permit a period
//! waits
//!                   waits
//!                                      a permit is back: wakes both
//! granted
//!                   woken, no permit: waits again
//! ```

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
    statement: "Each of many waiting acquisitions is woken once, for its own grant.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Limiters(cases),
};

/// The number of waiters.
const CROWD: u64 = 1_000;

fn cases(design: &Design) -> Vec<Case> {
    // In that world each waiter is woken at the moment of a grant.
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
                    // Polled once, and once more after its wake-up.
                    holds!(
                        polls <= 2,
                        "L2: a waiter was woken before its permit was there"
                    );
                    acquiring.as_mut().poll(context)
                }));
                world::now_nanos()
            });
            // Time passes during this wait, so that not all waiters access the limiter's state at once.
            world::block_on(nanosecond.acquire_async());
            waiter
        })
        .collect();
    let served: Vec<u64> = waiting.into_iter().map(world::join).collect();
    let last = served.iter().max().map_or(0, |at| *at - begin);
    let least = kept.limit(permits, PERIOD).least_for(CROWD);
    // The first waiters came one after the other, so their permits are back at different moments.
    holds!(
        (least..least + CROWD).contains(&last),
        "L2: {CROWD} of {permits} in {PERIOD:?} took {last} ns and not {least} ns"
    );
}
