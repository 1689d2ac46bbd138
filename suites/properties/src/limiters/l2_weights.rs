//! L2 (`WakesOnce`, weights): a waiter for several permits sleeps until all of them are there. Permits that are not
//! enough for it wake it no more than permits of another waiter do.
//!
//! The smallest history that violates it:
//!
//! ```text
//! waiter for 3          limiter, 3 permits in a period, all away
//! waits
//!                       one permit is back: wakes it
//! one is not enough: waits again
//! ```

use std::future::poll_fn;
use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::sync::world;

use super::{Kept, claims, limiter, several, time_stands_still};
use crate::design::limiters::{Design, Limiters};
use crate::form::Way;
use crate::{Case, Cases, Property, Reliance};

pub(crate) const PROPERTY: Property = Property {
    name: "l2-weights",
    statement: "Each of many waiters for several permits is woken once, when all of its permits are there.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Limiters(cases),
};

const PERMITS: u32 = 4;

/// Each permit takes whole nanoseconds, and so does the time between any two.
const PERIOD: Duration = Duration::from_nanos(2_000_004);

/// What the waiters ask for, again and again: each weight stands before and behind each other one.
const WEIGHTS: [u32; 8] = [2, 3, 1, 3, 2, 4, 1, 2];

/// As [`WEIGHTS`], in whole bursts. A window takes permits back as they were taken: a waiter that gets those of several
/// others sleeps to the first moment at which they can be back.
const BURSTS: [u32; 8] = [4, 1, 3, 2, 2, 4, 3, 1];

/// The number of waiters.
const CROWD: usize = 64;

fn cases(design: &Design) -> Vec<Case> {
    // In that world each waiter is woken at the moment of a grant.
    let owes = claims(design, Claim::WakesOnce) && time_stands_still();
    if !owes || !design.weighs.contains(&Way::Async) || !design.acquires.contains(&Way::Async) {
        return Vec::new();
    }
    let (limiters, kept) = (design.limiters, Kept::of(design));
    let apart = [
        ("one after the other", Duration::from_nanos(1)),
        ("over some periods", PERIOD / 10),
    ];
    let weights = match kept.by_rate {
        true => WEIGHTS,
        false => BURSTS,
    };
    let case = |(name, apart)| {
        Case::new(format!("async, {CROWD} come {name}"), move || {
            crowd(limiters, kept, weights, apart);
        })
    };
    apart.map(case).into()
}

/// Waiters come that far apart, and each is polled when it comes and when it is woken.
fn crowd(limiters: Limiters, kept: Kept, weights: [u32; 8], apart: Duration) {
    let shared = limiter(limiters, PERMITS, PERIOD);
    let between = limiter(limiters, 1, apart);
    world::block_on(between.acquire_async());
    let mut line = kept.line_in(PERMITS, PERIOD, true);
    let waiting: Vec<_> = (weights.into_iter().cycle().take(CROWD).enumerate())
        .map(|(asker, weight)| {
            line.asks(asker, weight, None);
            let limiter = shared.clone();
            let waiter = world::spawn(move || {
                let mut acquiring = limiter.acquire_weight_async(several(weight));
                let mut polls = 0_u32;
                let answer = world::block_on(poll_fn(|context| {
                    polls += 1;
                    // Polled once, and once more after its wake-up.
                    holds!(
                        polls <= 2,
                        "L2: a waiter for {weight} was woken before its permits were there"
                    );
                    acquiring.as_mut().poll(context)
                }));
                holds!(answer.is_ok(), "L3: {weight} permits were refused");
                (world::now_nanos(), asker)
            });
            // Time passes during this wait.
            world::block_on(between.acquire_async());
            waiter
        })
        .collect();
    let mut served: Vec<(u64, usize)> = waiting.into_iter().map(world::join).collect();
    // Where the order is free the specification does not know whose turn it is.
    if kept.first_come {
        served.sort_unstable();
        for (at, asker) in served {
            line.granted_at(asker, at);
        }
        line.judge();
    }
}
