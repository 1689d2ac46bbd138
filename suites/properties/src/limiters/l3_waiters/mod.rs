//! L3: weights, deadlines and waiters that give up. Whatever happens to one waiter, the others are served.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! waiter 1, deadline 0.5 ms    waiter 2             limiter, one permit in 2 ms
//! waits
//!                              waits
//! times out
//!                                                   at 2 ms reserves the permit for waiter 1
//!                              waits for ever
//!
//! acquire_weight(4), burst 3
//! waits for ever: it must be refused at once
//! ```

mod acting;
mod deadlines;
mod dropped;
mod weights;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::limiter::Attempt;
use flowmeter_harness::spec::limiter::Limit;
use flowmeter_harness::sync::world;

use super::{Kept, PERIOD, claims, limiter, nanos, surely};
use crate::design::limiters::{Design, Limiters};
use crate::form::Way;
use crate::{Case, Cases, Property, Reliance};

pub(crate) const PROPERTY: Property = Property {
    name: "l3-waiters",
    statement: "Deadlines are kept, weights are granted whole or refused at once, and an acquisition that gives up strands no other.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Limiters(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let (limiters, kept) = (design.limiters, Kept::of(design));
    let mut cases = Vec::new();
    for &way in &design.acquires {
        cases.push(Case::new(format!("{way}, not before"), move || {
            not_before(limiters, way, kept);
        }));
        cases.push(Case::new(
            format!("{way}, each waiter is served"),
            move || {
                all_served(limiters, way);
            },
        ));
        if way == Way::Async {
            cases.extend(dropped::cases(limiters, kept));
            if claims(design, Claim::CallsUnlocked) {
                cases.extend(acting::cases(limiters));
            }
        }
    }
    for &way in &design.acquires_until {
        cases.extend(deadlines::cases(limiters, way, kept));
    }
    for &way in &design.weighs {
        cases.extend(weights::cases(limiters, way, kept));
    }
    cases
}

/// All permits were acquired at that moment or later, and one more was granted, so a permit must be back. This
/// happens where a thread is delayed, or time passes while it runs.
fn must_be_back(limit: Limit, acquired: u64) {
    holds!(
        world::now_nanos() - acquired >= limit.least_for(limit.at_once() + 1),
        "L3: a permit that was away was granted"
    );
}

/// A refused try names the moment at which the next one can succeed, or none.
fn not_before(limiters: Limiters, way: Way, kept: Kept) {
    let limiter = limiter(limiters, 1, PERIOD);
    let begin = world::now_nanos();
    way.acquire(&limiter);
    match limiter.try_acquire() {
        Attempt::Granted => must_be_back(kept.limit(1, PERIOD), begin),
        Attempt::NotBefore(None) => {}
        Attempt::NotBefore(Some(moment)) => {
            way.acquire(&limiter);
            let granted = world::now_nanos();
            let moment = moment.as_nanos();
            // As much as the limiter's own clock may differ.
            let tolerance = nanos(PERIOD) - surely(nanos(PERIOD));
            let latest = if kept.is_exact() { moment } else { u64::MAX };
            holds!(
                (moment - tolerance..=latest).contains(&granted),
                "L3: granted at {granted}, and a try named {moment}"
            );
        }
    }
}

fn all_served(limiters: Limiters, way: Way) {
    let threads = match world::name() {
        // Under loom, timers of tasks leave no room for more.
        "loom" if way == Way::Async => 1,
        "loom" => 2,
        _ => 4,
    };
    let shared = limiter(limiters, 1, PERIOD);
    way.acquire(&shared);
    let waiting: Vec<_> = (0..threads)
        .map(|_| {
            let limiter = shared.clone();
            world::spawn(move || way.acquire(&limiter))
        })
        .collect();
    // A lost wake-up is a deadlock here.
    waiting.into_iter().for_each(world::join);
}
