//! L3: tries of several threads at once. Whatever they met in, the limiter then has what is left of its quota: no
//! permit was lost with a try that was refused, and none was granted to two.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! thread 1, one permit     thread 2
//! try -> granted
//! reads "none is left"
//!                          a period later: try -> granted
//! writes "none is left", and at that the time to which it has counted
//! a period later a try is refused
//!
//! reads "one is left"
//!                          try -> granted
//! writes "one is left"
//! try -> granted: two of one
//! ```

use std::time::Duration;

use flowmeter_harness::limiter::Attempt;
use flowmeter_harness::sync::world;

use super::{Kept, is_virtual, limiter, nanos, pause, time_stands_still};
use crate::design::limiters::{Design, Limiter, Limiters};
use crate::form::Way;
use crate::{Case, Cases, Property, Reliance};

pub(crate) const PROPERTY: Property = Property {
    name: "l3-tries",
    statement: "Several threads that try at once leave exactly what is left of the quota.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Limiters(cases),
};

/// A whole number of milliseconds, and so are its parts.
const PERIOD: Duration = Duration::from_millis(12);

/// So long that no permit comes back while real threads run.
const HOUR: Duration = Duration::from_secs(3_600);

fn cases(design: &Design) -> Vec<Case> {
    let (limiters, kept) = (design.limiters, Kept::of(design));
    let most = if world::name() == "loom" { 1 } else { 3 };
    let mut cases: Vec<Case> = (1..=most)
        .map(|permits| {
            let rounds = if world::name() == "std" { 64 } else { 1 };
            Case::new(format!("a burst, {permits} permits"), move || {
                (0..rounds).for_each(|_| a_burst(limiters, permits));
            })
        })
        .collect();
    // Loom has no room for the threads of a timer.
    if !is_virtual() || world::name() == "loom" {
        return cases;
    }
    for &way in &design.acquires {
        for permits in 1..=most {
            cases.push(Case::new(
                format!("{way}, bursts and pauses, {permits} permits"),
                move || bursts_and_pauses(limiters, way, kept, permits),
            ));
        }
    }
    cases
}

/// Several threads try at once; how many were granted.
fn at_once(shared: &Limiter) -> u64 {
    let (threads, tries) = match world::name() {
        "loom" => (1, 1),
        _ => (2, 2),
    };
    let trying = move |limiter: &Limiter| {
        let granted = (0..tries).filter(|_| {
            world::perturb();
            limiter.try_acquire() == Attempt::Granted
        });
        granted.count() as u64
    };
    let others: Vec<_> = (0..threads)
        .map(|_| {
            let limiter = shared.clone();
            world::spawn(move || trying(&limiter))
        })
        .collect();
    let mine = trying(shared);
    others.into_iter().map(world::join).sum::<u64>() + mine
}

/// Tries until one is refused; how many were granted. A limiter that grants for ever is told apart by the count.
fn the_rest(limiter: &Limiter, permits: u32) -> u64 {
    let granted = (0..=2 * permits).take_while(|_| limiter.try_acquire() == Attempt::Granted);
    granted.count() as u64
}

/// All permits are there at the beginning, and none comes back meanwhile.
fn a_burst(limiters: Limiters, permits: u32) {
    let limiter = limiter(limiters, permits, HOUR);
    let begin = world::now_nanos();
    let granted = at_once(&limiter) + the_rest(&limiter, permits);
    if world::now_nanos() - begin < nanos(HOUR) / u64::from(permits) {
        holds_eq!(
            granted,
            u64::from(permits),
            "L3: granted to several threads that tried at once, and what was left"
        );
    }
}

/// No permit is lost by a pause, and all of them are taken after each: so their number is exactly what the limit allows
/// until then.
fn bursts_and_pauses(limiters: Limiters, way: Way, kept: Kept, permits: u32) {
    let limiter = limiter(limiters, permits, PERIOD);
    let limit = kept.limit(permits, PERIOD);
    // A permit that comes back by a thread may be late by a tick. The longer pause loses none of a window.
    let rests = match kept.by_rate {
        true => PERIOD / permits,
        false => PERIOD + PERIOD / 6,
    };
    let begin = world::now_nanos();
    let mut granted = 0;
    // Elsewhere a thread may be late, and so are permits that come back a period after their grant.
    let mut is_exact = kept.is_exact() || time_stands_still();
    for round in 0..4 {
        if round > 0 {
            pause(limiters, way, rests);
        }
        let called = world::now_nanos();
        // Threads meet in every other round; the others show what they have left behind.
        if round % 2 == 0 {
            granted += at_once(&limiter);
        }
        granted += the_rest(&limiter, permits);
        let after = world::now_nanos() - begin;
        is_exact &= after == called - begin;
        let most = limit.most_in(after);
        holds!(
            granted <= most,
            "L3: {granted} permits were granted in {after} ns, and the limit is {most}"
        );
        holds!(
            granted == most || !is_exact,
            "L3: {granted} permits were granted in {after} ns, and {most} were there"
        );
    }
    // What was lost would have been granted: one that waits for it waits for ever.
    (0..permits).for_each(|_| way.acquire(&limiter));
}
