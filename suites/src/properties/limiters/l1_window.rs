//! L1 (`WindowBound`): no period, wherever it begins, holds more acquisitions than there are permits, and a
//! permit is back when its period is over.

use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::limiter::Limiters;
use flowmeter_harness::spec::limiter::{Grant, Terms, judge};
use flowmeter_harness::sync::World;

use super::line::Line;
use super::{Form, PERIOD, acquired, is_virtual, limiter, pause, tried, window};
use crate::properties::{Case, Property, Reliance, obeys};

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

/// One thread alone: in virtual time it sees every grant at its moment, and no permit is away longer than its period.
fn alone_in_line<W: World>(permits: u32) -> Line<W> {
    Line::new(Terms {
        limit: window::<W>(permits, PERIOD),
        first_come: true,
        at_once: is_virtual::<W>(),
        passes_on: true,
    })
}

fn tries<L: Limiters, W: World>() {
    const PERMITS: u32 = 3;
    let limiter = limiter::<L>(PERMITS, PERIOD);
    let mut line = alone_in_line::<W>(PERMITS);
    for _ in 0..2 * PERMITS {
        line.tries(&limiter);
    }
    line.judge();
}

fn alone<L: Limiters, F: Form<L>, W: World>(permits: u32) {
    let limiter = limiter::<L>(permits, PERIOD);
    let mut line = alone_in_line::<W>(permits);
    for who in 0..=2 * permits as usize {
        line.acquires::<L, F>(who, &limiter);
    }
    line.judge();
}

/// One grant just before the end of a period and one after it: those of aligned windows would not see each
/// other.
fn edges<L: Limiters, F: Form<L>, W: World>() {
    const PERMITS: u32 = 2;
    let limiter = limiter::<L>(PERMITS, PERIOD);
    let mut line = alone_in_line::<W>(PERMITS);
    line.acquires::<L, F>(0, &limiter);
    // In real time a pause takes longer than it was asked for, and the second grant should be in time.
    pause::<L, F>(if is_virtual::<W>() {
        PERIOD - Duration::from_nanos(1)
    } else {
        PERIOD / 2
    });
    for who in 1..4 {
        line.acquires::<L, F>(who, &limiter);
    }
    line.judge();
}

/// Permits do not pile up while nobody asks.
fn after_a_pause<L: Limiters, F: Form<L>, W: World>() {
    const PERMITS: u32 = 2;
    let limiter = limiter::<L>(PERMITS, PERIOD);
    let mut line = alone_in_line::<W>(PERMITS);
    line.acquires::<L, F>(0, &limiter);
    pause::<L, F>(3 * PERIOD);
    for who in 1..4 {
        line.acquires::<L, F>(who, &limiter);
    }
    line.judge();
}

fn several_threads<L: Limiters, F: Form<L>, W: World>() {
    let (threads, permits, each) = match W::name() {
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
                    let thirds = if W::name() == "loom" { 0 } else { W::choose(5) };
                    if thirds > 0 {
                        pause::<L, F>(PERIOD * thirds as u32 / 3);
                    }
                    acquired::<L, F, W>(&limiter)
                };
                (0..each).map(acquire).collect::<Vec<_>>()
            })
        })
        .collect();
    let grants: Vec<Grant> = acquiring.into_iter().flat_map(W::join).collect();
    obeys(judge(window::<W>(permits, PERIOD), &grants));
}

/// One waits for its permits while another tries without waiting.
fn against_tries<L: Limiters, F: Form<L>, W: World>() {
    let count = if W::name() == "loom" { 2 } else { 4 };
    let shared = Arc::new(limiter::<L>(1, PERIOD));
    let limiter = shared.clone();
    let waiting = W::spawn(move || {
        let grants = (0..count).map(|_| acquired::<L, F, W>(&limiter));
        grants.collect::<Vec<_>>()
    });
    let mut grants = Vec::new();
    for _ in 0..count {
        grants.extend(tried::<L, W>(&shared));
        W::yield_now();
    }
    grants.extend(W::join(waiting));
    obeys(judge(window::<W>(1, PERIOD), &grants));
}
