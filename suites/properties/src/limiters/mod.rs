//! Properties of limiters, L1 to L4.
//!
//! A model sees when an acquisition was called and when it returned; the grant lies between the two. The
//! specification (`harness::spec::limiter`) judges only what holds for all such moments, so it applies in every
//! world. Where one thread runs, or where time stands still while any thread can run, a return shows the grant
//! itself. There virtual time makes the judgement exact.

pub(super) mod l1_waiter_fifo;
pub(super) mod l1_window;
pub(super) mod l2_clocks;
pub(super) mod l2_one_wake;
pub(super) mod l2_rate;
pub(super) mod l2_weights;
pub(super) mod l3_leavers;
pub(super) mod l3_sequences;
pub(super) mod l3_tries;
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

/// Long enough for a thread to wait, short enough for a model of several. It is an odd number of nanoseconds, which
/// is no multiple of a coarser unit.
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

/// What the times of a call show of its grant in that world.
fn grant(called: u64, returned: u64) -> Grant {
    Grant {
        // Where a return shows the grant, its moment is known exactly.
        from: if time_stands_still() {
            returned
        } else {
            called
        },
        until: returned,
        weight: 1,
    }
}

/// Acquires a permit.
fn acquired(limiter: &Limiter, way: Way) -> Grant {
    let called = world::now_nanos();
    way.acquire(limiter);
    grant(called, world::now_nanos())
}

/// Tries; returns what was granted.
fn tried(limiter: &Limiter) -> Option<Grant> {
    let called = world::now_nanos();
    let is_granted = limiter.try_acquire() == Attempt::Granted;
    is_granted.then(|| grant(called, world::now_nanos()))
}

/// The limit of L1, in time that certainly passes.
fn window(permits: u32, period: Duration) -> Limit {
    Limit::Window {
        permits: several(permits),
        period: NonZeroU64::new(surely(nanos(period))).expect("models take time"),
    }
}

/// The limit of L2, in time that certainly passes.
fn rate(permits: u32, period: Duration, burst: u32) -> Limit {
    Limit::Rate {
        permits: several(permits),
        period: NonZeroU64::new(surely(nanos(period))).expect("models take time"),
        burst: several(burst),
    }
}

/// The claims of a design that determine when waiters are served.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    by_rate: bool,
    first_come: bool,
    passes_on: bool,
    tickless: bool,
}

impl Kept {
    fn of(design: &Design) -> Kept {
        Kept {
            by_rate: claims(design, Claim::RateBound),
            first_come: claims(design, Claim::WaiterFifo),
            passes_on: claims(design, Claim::PassesOn),
            tickless: claims(design, Claim::Tickless),
        }
    }

    /// Whether virtual time shows each grant at its moment. A tick grants later.
    fn is_exact(self) -> bool {
        self.tickless && is_virtual()
    }

    /// The limit for a quota of `permits` in a period, all of which may be granted at once. Real time shows only the
    /// rate bound: the burst and what the rate adds, which is more than a window ever holds.
    fn limit(self, permits: u32, period: Duration) -> Limit {
        if self.by_rate || !is_virtual() {
            rate(permits, period, permits)
        } else {
            window(permits, period)
        }
    }

    /// The waiters under that limit. `at_once`: whether the thread sees each grant at its moment, and each grant
    /// comes as early as possible; where there is a tick, virtual time shows that it does not.
    fn line(self, permits: u32, at_once: bool) -> Line {
        self.line_in(permits, PERIOD, at_once)
    }

    /// As [`Kept::line`], with that period.
    fn line_in(self, permits: u32, period: Duration, at_once: bool) -> Line {
        Line::new(Terms {
            limit: self.limit(permits, period),
            first_come: self.first_come,
            at_once: at_once && (self.tickless || !is_virtual()),
            passes_on: self.passes_on,
        })
    }
}

fn several(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).expect("models ask for some")
}

/// A quota of `permits` in a period, all of which may be granted at once.
fn plain(permits: u32, period: Duration) -> Quota {
    Quota {
        permits: several(permits),
        period,
        burst: several(permits),
    }
}

/// A limiter with that quota, which every design must accept.
fn with_quota(limiters: Limiters, quota: Quota) -> Limiter {
    let made = limiters.with_quota(quota);
    made.unwrap_or_else(|error| violated!("L4: {quota:?} was refused: {error:?}"))
}

/// A limiter of `permits` in a period, all of which may be granted at once. Every design has such a quota.
fn limiter(limiters: Limiters, permits: u32, period: Duration) -> Limiter {
    with_quota(limiters, plain(permits, period))
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("models are short")
}

/// Lets that much time pass: two acquisitions of the only permit in that time.
fn pause(limiters: Limiters, way: Way, duration: Duration) {
    let own = limiter(limiters, 1, duration);
    way.acquire(&own);
    way.acquire(&own);
}

/// Whether time stands still while any thread can run, for all threads and in every execution.
fn time_stands_still() -> bool {
    world::name() == "sim"
}

/// Whether only timers move the clock, so that a single thread sees the moments of its grants.
fn is_virtual() -> bool {
    world::name() != "std"
}

/// How much certainly passes on the world's clock while `duration` passes on the limiter's own. In the std world a
/// limiter may have its own clock, with a rate that differs by up to a thousandth.
fn surely(duration: u64) -> u64 {
    if is_virtual() {
        duration
    } else {
        duration - duration / 1_000
    }
}

fn claims(design: &Design, claim: Claim) -> bool {
    design.implementation.capabilities.claims.contains(&claim)
}

// At the end: the scan of the sources for checks stops at the first `cfg(test)`.
#[cfg(test)]
#[path = "../../../src/cli/new/limiter/property.txt"]
#[allow(dead_code, reason = "it has to compile, and no implementation owes it")]
mod begun;
