//! L2 (`RateBound`): at rate r with burst b, an interval holds at most b + r · length grants.
//!
//! The smallest history that violates it:
//!
//! ```text
//! four permits in 4 ms, burst 2
//! clock      thread
//! 0 ms       acquire -> granted
//! 0 ms       acquire -> granted
//! 0.5 ms     acquire -> granted: at most 2 + 1/ms · 0.5 ms allow two
//! ```

use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::limiter::Quota;
use flowmeter_harness::spec::limiter::{Grant, Limit, judge};
use flowmeter_harness::sync::world;

use super::{acquired, claims, is_virtual, nanos, pause, rate, several, tried, with_quota};
use crate::design::limiters::{Design, Limiter, Limiters};
use crate::form::Way;
use crate::{Case, Cases, Property, Reliance, obeys};

pub(crate) const PROPERTY: Property = Property {
    name: "l2-rate",
    statement: "No interval holds more acquisitions than the burst and what the rate adds in it.",
    relied_on_by: Reliance::All,
    cases: Cases::Limiters(cases),
};

/// Two at once, and one more each millisecond.
const PERMITS: u32 = 4;
const BURST: u32 = 2;
const PERIOD: Duration = Duration::from_millis(4);

/// A model of limiters.
type Of = fn(Limiters, Way);

fn cases(design: &Design) -> Vec<Case> {
    if !claims(design, Claim::RateBound) {
        return Vec::new();
    }
    let limiters = design.limiters;
    let mut cases = vec![Case::new("tries", move || tries(limiters))];
    let models: [(_, Of); 3] = [
        ("alone", alone),
        ("several threads", several_threads),
        ("a burst after a pause", after_a_pause),
    ];
    for &way in &design.acquires {
        cases.extend(models.map(|(name, model)| {
            Case::new(format!("{way}, {name}"), move || model(limiters, way))
        }));
    }
    cases
}

fn fresh(limiters: Limiters) -> Limiter {
    let quota = Quota {
        permits: several(PERMITS),
        period: PERIOD,
        burst: several(BURST),
    };
    with_quota(limiters, quota)
}

fn limit() -> Limit {
    rate(PERMITS, PERIOD, BURST)
}

fn tries(limiters: Limiters) {
    let limiter = fresh(limiters);
    let mut grants = Vec::new();
    let begin = world::now_nanos();
    // Virtual time does not pass while no thread waits.
    let most = if is_virtual() { 3 * BURST } else { u32::MAX };
    for tries in 0..most {
        // The burst is there, however late this thread is.
        if tries >= BURST && world::now_nanos() - begin >= nanos(PERIOD) {
            break;
        }
        grants.extend(tried(&limiter));
    }
    holds!(
        grants.len() >= BURST as usize,
        "L2: a burst that was there was refused"
    );
    obeys(judge(limit(), &grants));
}

fn alone(limiters: Limiters, way: Way) {
    let limiter = fresh(limiters);
    let grants: Vec<Grant> = (0..BURST + 3).map(|_| acquired(&limiter, way)).collect();
    obeys(judge(limit(), &grants));
}

fn several_threads(limiters: Limiters, way: Way) {
    let (threads, each) = if world::name() == "loom" {
        (2, 2)
    } else {
        (4, 2)
    };
    let shared = fresh(limiters);
    let acquiring: Vec<_> = (0..threads)
        .map(|_| {
            let limiter = shared.clone();
            world::spawn(move || {
                let grants = (0..each).map(|_| acquired(&limiter, way));
                grants.collect::<Vec<_>>()
            })
        })
        .collect();
    let grants: Vec<Grant> = acquiring.into_iter().flat_map(world::join).collect();
    obeys(judge(limit(), &grants));
}

/// No more than the burst accumulates.
fn after_a_pause(limiters: Limiters, way: Way) {
    let limiter = fresh(limiters);
    let mut grants = vec![acquired(&limiter, way)];
    pause(limiters, way, PERIOD);
    for _ in 0..BURST + 2 {
        grants.push(acquired(&limiter, way));
    }
    obeys(judge(limit(), &grants));
}
