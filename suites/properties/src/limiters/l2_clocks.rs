//! L2 where clocks disagree: an attempt may read a cheaper clock than a waiter, which is behind the other by less than
//! 100 ns. So one limiter is asked at moments that go back, and at the same moment again and again. Neither gives it a
//! permit that has not come.
//!
//! The smallest history that violates it:
//!
//! ```text
//! a bucket of 1, a permit each 50 ns
//! clock 50    acquire -> granted      the bucket is filled up to 50
//! clock 0     try -> would wait       the bucket goes back to 0
//! clock 50    try -> granted          the permit of 0 to 50 comes a second time
//! ```

use std::time::Duration;

use flowmeter_harness::limiter::Quota;
use flowmeter_harness::spec::limiter::{Grant, judge};
use flowmeter_harness::sync::{Deadline, world};

use super::{Kept, acquired, pause, several, tried, with_quota};
use crate::design::limiters::{Design, Limiters};
use crate::form::Way;
use crate::{Case, Cases, Property, Reliance, obeys};

pub(crate) const PROPERTY: Property = Property {
    name: "l2-clocks",
    statement: "A clock that stands still, or goes back between two calls, grants nothing that has not come.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Limiters(cases),
};

/// As far as the brisk clock of the std world may be behind.
const LAG: u64 = 99;

/// Less than the lag: each step back is worth several permits.
const EACH: Duration = Duration::from_nanos(20);
const BURST: u32 = 3;

fn cases(design: &Design) -> Vec<Case> {
    // In the std world the clock lags by itself, and never by so many permits. Loom has no room for several acquisitions
    // and their timers.
    if !matches!(world::name(), "sim" | "shuttle") {
        return Vec::new();
    }
    let (limiters, kept) = (design.limiters, Kept::of(design));
    let mut cases = Vec::new();
    for &way in &design.acquires {
        let lags = [("that stands still", 0), ("that lags", LAG)];
        cases.extend(lags.map(|(name, lag)| {
            Case::new(format!("{way}, a clock {name}"), move || {
                alone(limiters, kept, way, lag);
            })
        }));
        cases.push(Case::new(
            format!("{way}, a clock that lags, two threads"),
            move || two_threads(limiters, kept, way),
        ));
    }
    for &way in &design.acquires_until {
        cases.push(Case::new(
            format!("{way}, a clock that lags, deadlines"),
            move || deadlines(limiters, kept, way),
        ));
    }
    cases
}

fn quota() -> Quota {
    Quota {
        permits: several(BURST),
        period: EACH * BURST,
        burst: several(BURST),
    }
}

/// Tries at one moment, waits for a permit, tries again.
fn alone(limiters: Limiters, kept: Kept, way: Way, lag: u64) {
    // Virtual time begins with nothing that a clock could be behind.
    pause(limiters, way, Duration::from_micros(1));
    world::lag(lag);
    let limiter = with_quota(limiters, quota());
    let mut grants = Vec::new();
    for _ in 0..4 {
        grants.extend((0..=BURST).filter_map(|_| tried(&limiter)));
        grants.push(acquired(&limiter, way));
        grants.extend((0..2).filter_map(|_| tried(&limiter)));
    }
    obeys(judge(kept.limit(BURST, EACH * BURST), &grants));
}

fn two_threads(limiters: Limiters, kept: Kept, way: Way) {
    let shared = with_quota(limiters, quota());
    let mut grants: Vec<Grant> = (0..BURST).filter_map(|_| tried(&shared)).collect();
    world::lag(LAG);
    let other = shared.clone();
    let waits = world::spawn(move || [(); 3].map(|()| acquired(&other, way)));
    for _ in 0..3 {
        grants.extend(tried(&shared));
        grants.push(acquired(&shared, way));
    }
    grants.extend(world::join(waits));
    obeys(judge(kept.limit(BURST, EACH * BURST), &grants));
}

/// Deadlines that have passed by one clock and not by the other.
fn deadlines(limiters: Limiters, kept: Kept, way: Way) {
    let limiter = with_quota(limiters, quota());
    let mut grants: Vec<Grant> = (0..BURST).filter_map(|_| tried(&limiter)).collect();
    world::lag(LAG);
    for halves in [0, 1, 2, 3, 8] {
        let called = world::now_nanos();
        let until = Deadline::after(called, EACH * halves / 2);
        if way.acquire_until(&limiter, until) {
            grants.push(super::grant(called, world::now_nanos()));
        }
        grants.extend(tried(&limiter));
    }
    obeys(judge(kept.limit(BURST, EACH * BURST), &grants));
}
