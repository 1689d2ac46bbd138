//! L1 (`WindowBound`): no period, wherever it begins, holds more acquisitions than there are permits, and a
//! permit is back when its period is over.

use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::limiter::{Attempt, Limiters};
use flowmeter_harness::sync::World;

use super::{Form, Grant, PERIOD, is_virtual, limiter, nanos, pause, surely, time_stands_still};
use crate::properties::{Case, Property, Reliance};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "l1-window",
    statement: "No half-open period, wherever it begins, holds more acquisitions than there are permits.",
    relied_on_by: Reliance::Everybody,
};

pub(super) fn try_cases<L: Limiters, W: World>() -> Vec<Case> {
    vec![Case::new("tries", tries::<L, W>)]
}

pub(super) fn cases<L: Limiters, F: Form<L>, W: World>() -> Vec<Case> {
    let form = F::NAME;
    let mut cases = Vec::new();
    for permits in [1, 2] {
        let model = move || alone::<L, F, W>(permits);
        cases.push(Case::new(
            format!("{form}, alone, {permits} permits"),
            model,
        ));
    }
    cases.push(Case::new(
        format!("{form}, at the edges of periods"),
        edges::<L, F, W>,
    ));
    cases.push(Case::new(
        format!("{form}, a burst after a pause"),
        after_a_pause::<L, F, W>,
    ));
    cases.push(Case::new(
        format!("{form}, several threads"),
        several_threads::<L, F, W>,
    ));
    cases.push(Case::new(
        format!("{form}, against tries"),
        against_tries::<L, F, W>,
    ));
    cases
}

/// Permits + 1 grants, all of which surely lie in less than a period, are one too many.
fn judge<W: World>(permits: u32, period: Duration, grants: &[Grant]) {
    let period = surely::<W>(nanos(period));
    // Where a return shows the grant, it is not known only to lie somewhere in the call.
    let earliest = |grant: &Grant| {
        if time_stands_still::<W>() {
            grant.returned
        } else {
            grant.called
        }
    };
    for first in grants {
        let begin = earliest(first);
        let mut ends: Vec<u64> = grants
            .iter()
            .filter(|grant| earliest(grant) >= begin)
            .map(|grant| grant.returned)
            .collect();
        ends.sort_unstable();
        if let Some(end) = ends.get(permits as usize) {
            assert!(
                end - begin >= period,
                "L1: {} acquisitions of {permits} permits in {} ns of a period of {period} ns: {grants:?}",
                permits + 1,
                end - begin,
            );
        }
    }
}

/// A thread alone sees every grant at its moment, in virtual time.
fn judge_exactly<W: World>(grants: &[Grant], expected: &[u64]) {
    if is_virtual::<W>() {
        let returned: Vec<u64> = grants.iter().map(|grant| grant.returned).collect();
        assert_eq!(
            returned, expected,
            "L1: a permit is back one period after its acquisition"
        );
    }
}

fn tries<L: Limiters, W: World>() {
    const PERMITS: u32 = 3;
    let limiter = limiter::<L>(PERMITS, PERIOD);
    let mut grants = Vec::new();
    for attempt in 0..2 * PERMITS {
        let called = W::now_nanos();
        let answer = limiter.try_acquire();
        let returned = W::now_nanos();
        if answer == Attempt::Granted {
            grants.push(Grant { called, returned });
        } else {
            assert!(attempt >= PERMITS, "L1: a permit that was free was refused");
        }
    }
    judge::<W>(PERMITS, PERIOD, &grants);
}

fn alone<L: Limiters, F: Form<L>, W: World>(permits: u32) {
    let limiter = limiter::<L>(permits, PERIOD);
    let begin = W::now_nanos();
    let count = 2 * permits + 1;
    let grants: Vec<Grant> = (0..count).map(|_| Grant::of::<L, F, W>(&limiter)).collect();
    judge::<W>(permits, PERIOD, &grants);
    let expected: Vec<u64> = (0..count)
        .map(|grant| begin + u64::from(grant / permits) * nanos(PERIOD))
        .collect();
    judge_exactly::<W>(&grants, &expected);
}

/// One grant just before the end of a period and one after it: those of aligned windows would not see each
/// other.
fn edges<L: Limiters, F: Form<L>, W: World>() {
    const PERMITS: u32 = 2;
    let limiter = limiter::<L>(PERMITS, PERIOD);
    let begin = W::now_nanos();
    let mut grants = vec![Grant::of::<L, F, W>(&limiter)];
    // In real time a pause takes longer than it was asked for, and the second grant should be in time.
    let almost = if is_virtual::<W>() {
        PERIOD - Duration::from_nanos(1)
    } else {
        PERIOD / 2
    };
    pause::<L, F>(almost);
    for _ in 0..3 {
        grants.push(Grant::of::<L, F, W>(&limiter));
    }
    judge::<W>(PERMITS, PERIOD, &grants);
    let (almost, period) = (nanos(almost), nanos(PERIOD));
    let expected = [0, almost, period, almost + period].map(|after| begin + after);
    judge_exactly::<W>(&grants, &expected);
}

/// Permits do not pile up while nobody asks.
fn after_a_pause<L: Limiters, F: Form<L>, W: World>() {
    const PERMITS: u32 = 2;
    let limiter = limiter::<L>(PERMITS, PERIOD);
    let mut grants = vec![Grant::of::<L, F, W>(&limiter)];
    pause::<L, F>(3 * PERIOD);
    let begin = W::now_nanos();
    for _ in 0..3 {
        grants.push(Grant::of::<L, F, W>(&limiter));
    }
    judge::<W>(PERMITS, PERIOD, &grants);
    let expected = [begin, begin, begin + nanos(PERIOD)];
    judge_exactly::<W>(&grants[1..], &expected);
}

fn several_threads<L: Limiters, F: Form<L>, W: World>() {
    let (threads, permits, each) = match W::NAME {
        // Timers of tasks leave loom no room for more.
        "loom" if F::NAME == "async" => (2, 1, 1),
        "loom" => (2, 1, 2),
        "shuttle" => (3, 2, 3),
        "sim" => (16, 5, 40),
        _ => (4, 3, 3),
    };
    let shared = Arc::new(limiter::<L>(permits, PERIOD));
    let acquiring: Vec<_> = (0..threads)
        .map(|_| {
            let limiter = shared.clone();
            W::spawn(move || {
                let acquire = |_| {
                    // Loom has no room for pauses; its schedules have them all.
                    let thirds = if W::NAME == "loom" { 0 } else { W::choose(5) };
                    if thirds > 0 {
                        pause::<L, F>(PERIOD * thirds as u32 / 3);
                    }
                    Grant::of::<L, F, W>(&limiter)
                };
                (0..each).map(acquire).collect::<Vec<_>>()
            })
        })
        .collect();
    let grants: Vec<Grant> = acquiring.into_iter().flat_map(W::join).collect();
    judge::<W>(permits, PERIOD, &grants);
}

/// One waits for its permits while another tries without waiting.
fn against_tries<L: Limiters, F: Form<L>, W: World>() {
    let count = if W::NAME == "loom" { 2 } else { 4 };
    let shared = Arc::new(limiter::<L>(1, PERIOD));
    let limiter = shared.clone();
    let waiting = W::spawn(move || {
        let grants = (0..count).map(|_| Grant::of::<L, F, W>(&limiter));
        grants.collect::<Vec<_>>()
    });
    let mut grants = Vec::new();
    for _ in 0..count {
        let called = W::now_nanos();
        if shared.try_acquire() == Attempt::Granted {
            grants.push(Grant {
                called,
                returned: W::now_nanos(),
            });
        }
        W::yield_now();
    }
    grants.extend(W::join(waiting));
    judge::<W>(1, PERIOD, &grants);
}
