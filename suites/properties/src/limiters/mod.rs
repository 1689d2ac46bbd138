//! Properties of limiters, L1 to L4.
//!
//! What a model sees of an acquisition is when it was called and when it returned; the grant lies somewhere
//! between the two. The specification (`harness::spec::limiter`) judges what is sure of all such moments, which holds
//! in every world. Where only one thread runs, and in a world whose time stands still while anybody can run, a return
//! shows the grant itself, and virtual time makes the judgement exact.

pub(super) mod l1_waiter_fifo;
pub(super) mod l1_window;
pub(super) mod l2_one_wake;
pub(super) mod l2_rate;
pub(super) mod l3_waiters;
pub(super) mod l4_quotas;
mod line;

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::limiter::{Attempt, LimitError, Quota};
use flowmeter_harness::spec::limiter::{Grant, Limit, Terms};
use flowmeter_harness::sync::{Deadline, world};

use super::form::Way;
use crate::design::limiters::{Design, Limiter, Limiters};
use line::Line;

/// Long enough for a thread to wait, short enough for a model of several; an odd number of nanoseconds, which no
/// coarser unit holds.
const PERIOD: Duration = Duration::from_nanos(2_000_003);

impl Way {
    /// Waits for a permit.
    fn acquire(self, limiter: &Limiter) {
        match self {
            Way::Blocking => limiter.acquire(),
            Way::Async => world::block_on(limiter.acquire_async()),
        }
    }

    /// Waits for a permit until a deadline; whether it was granted.
    fn acquire_until(self, limiter: &Limiter, deadline: Deadline) -> bool {
        match self {
            Way::Blocking => limiter.acquire_until(deadline),
            Way::Async => world::block_on(limiter.acquire_until_async(deadline)),
        }
    }

    /// Waits for several permits at once.
    fn acquire_weight(self, limiter: &Limiter, weight: u32) -> Result<(), LimitError> {
        match self {
            Way::Blocking => limiter.acquire_weight(several(weight)),
            Way::Async => world::block_on(limiter.acquire_weight_async(several(weight))),
        }
    }
}

/// What is known of a grant to a call in that world.
fn grant(called: u64, returned: u64) -> Grant {
    Grant {
        // Where a return shows the grant, it is not known only to lie somewhere in the call.
        from: if time_stands_still() {
            returned
        } else {
            called
        },
        until: returned,
        weight: 1,
    }
}

/// Acquires.
fn acquired(limiter: &Limiter, way: Way) -> Grant {
    let called = world::now_nanos();
    way.acquire(limiter);
    grant(called, world::now_nanos())
}

/// Tries; what it was granted.
fn tried(limiter: &Limiter) -> Option<Grant> {
    let called = world::now_nanos();
    let is_granted = limiter.try_acquire() == Attempt::Granted;
    is_granted.then(|| grant(called, world::now_nanos()))
}

/// L1's limit, in time that is sure to pass.
fn window(permits: u32, period: Duration) -> Limit {
    Limit::Window {
        permits: several(permits),
        period: NonZeroU64::new(surely(nanos(period))).expect("models take time"),
    }
}

/// L2's limit, in time that is sure to pass.
fn rate(permits: u32, period: Duration, burst: u32) -> Limit {
    Limit::Rate {
        permits: several(permits),
        period: NonZeroU64::new(surely(nanos(period))).expect("models take time"),
        burst: several(burst),
    }
}

/// What somebody claims that says when others are served.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    by_rate: bool,
    first_come: bool,
    passes_on: bool,
}

impl Kept {
    fn of(design: &Design) -> Kept {
        Kept {
            by_rate: claims(design, Claim::RateBound),
            first_come: claims(design, Claim::WaiterFifo),
            passes_on: claims(design, Claim::PassesOn),
        }
    }

    /// What is kept to with a quota of so many permits in a period, all of which may be had at once. Real time shows no
    /// more than the burst and what the rate adds, which is more than a window ever holds.
    fn limit(self, permits: u32, period: Duration) -> Limit {
        if self.by_rate || !is_virtual() {
            rate(permits, period, permits)
        } else {
            window(permits, period)
        }
    }

    /// Those who wait for that. `at_once`: whether the thread sees each grant at its moment, and each comes as soon as it
    /// can.
    fn line(self, permits: u32, at_once: bool) -> Line {
        Line::new(Terms {
            limit: self.limit(permits, PERIOD),
            first_come: self.first_come,
            at_once,
            passes_on: self.passes_on,
        })
    }
}

fn several(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).expect("models ask for some")
}

/// So many permits in a period, all of which may be had at once.
fn plain(permits: u32, period: Duration) -> Quota {
    Quota {
        permits: several(permits),
        period,
        burst: several(permits),
    }
}

/// A limiter with that quota, which it has to have.
fn with_quota(limiters: Limiters, quota: Quota) -> Limiter {
    let made = limiters.with_quota(quota);
    made.unwrap_or_else(|error| violated!("L4: {quota:?} was refused: {error:?}"))
}

/// So many permits in a period, all of which may be had at once: every design has such a quota.
fn limiter(limiters: Limiters, permits: u32, period: Duration) -> Limiter {
    with_quota(limiters, plain(permits, period))
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("models are short")
}

/// Lets so much time pass: two acquisitions of the only permit in that time.
fn pause(limiters: Limiters, way: Way, duration: Duration) {
    let own = limiter(limiters, 1, duration);
    way.acquire(&own);
    way.acquire(&own);
}

/// Whether the world's time stands still while anybody can run, for all threads and in every execution.
fn time_stands_still() -> bool {
    world::name() == "sim"
}

/// Whether nothing but a timer moves the clock, so that a thread alone sees the moments of its grants.
fn is_virtual() -> bool {
    world::name() != "std"
}

/// What is sure to pass on the world's clock while `duration` passes on the limiter's own: in the std world a
/// limiter may have a clock of its own, whose rate is let differ by a thousandth.
fn surely(duration: u64) -> u64 {
    if is_virtual() {
        duration
    } else {
        duration - duration / 1_000
    }
}

fn claims(design: &Design, claim: Claim) -> bool {
    design.who.capabilities.claims.contains(&claim)
}

// At the end: whoever reads sources for code stops where tests begin.
#[cfg(test)]
#[path = "../../../src/cli/new/limiter/property.txt"]
#[allow(dead_code, reason = "it has to compile, and nobody owes it")]
mod begun;
