//! L1 (`WindowBound`): no period, wherever it begins, holds more acquisitions than there are permits. A permit is
//! back when its period is over.
//!
//! The smallest history that violates it:
//!
//! ```text
//! one permit in 2 ms
//! clock      thread
//! 0 ms       acquire -> granted
//! 1.9 ms     acquire -> granted: two within 2 ms
//! ```

use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::spec::limiter::{Grant, Terms, judge};
use flowmeter_harness::sync::world;

use super::line::Line;
use super::{Kept, PERIOD, acquired, claims, is_virtual, limiter, pause, tried, window};
use crate::design::limiters::{Design, Limiters};
use crate::form::Way;
use crate::{Case, Cases, Property, Reliance, obeys};

pub(crate) const PROPERTY: Property = Property {
    name: "l1-window",
    statement: "No half-open period, wherever it begins, holds more acquisitions than there are permits.",
    relied_on_by: Reliance::All,
    cases: Cases::Limiters(cases),
};

/// A model of limiters.
type Of = fn(Limiters, Way, Kept);

fn cases(design: &Design) -> Vec<Case> {
    if !claims(design, Claim::WindowBound) {
        return Vec::new();
    }
    let (limiters, kept) = (design.limiters, Kept::of(design));
    let mut cases = vec![Case::new("tries", move || tries(limiters, kept))];
    for &way in &design.acquires {
        for permits in [1, 2] {
            let model = move || alone(limiters, way, permits, kept);
            cases.push(Case::new(format!("{way}, alone, {permits} permits"), model));
        }
        let others: [(_, Of); 4] = [
            ("at the edges of periods", edges),
            ("a burst after a pause", after_a_pause),
            ("several threads", several_threads),
            ("against tries", against_tries),
        ];
        cases.extend(others.map(|(name, model)| {
            Case::new(format!("{way}, {name}"), move || model(limiters, way, kept))
        }));
    }
    cases
}

/// With one thread, virtual time shows each grant at its moment, and each permit is back after exactly its period.
fn alone_in_line(permits: u32, kept: Kept) -> Line {
    Line::new(Terms {
        limit: window(permits, PERIOD),
        first_come: true,
        at_once: kept.is_exact(),
        passes_on: true,
    })
}

fn tries(limiters: Limiters, kept: Kept) {
    const PERMITS: u32 = 3;
    let limiter = limiter(limiters, PERMITS, PERIOD);
    let mut line = alone_in_line(PERMITS, kept);
    for _ in 0..2 * PERMITS {
        line.tries(&limiter);
    }
    line.judge();
}

fn alone(limiters: Limiters, way: Way, permits: u32, kept: Kept) {
    let limiter = limiter(limiters, permits, PERIOD);
    let mut line = alone_in_line(permits, kept);
    for asker in 0..=2 * permits as usize {
        line.acquires(asker, &limiter, way);
    }
    line.judge();
}

/// One grant just before the end of a period and one after it. A limiter with aligned windows would not relate the
/// two.
fn edges(limiters: Limiters, way: Way, kept: Kept) {
    const PERMITS: u32 = 2;
    let limiter = limiter(limiters, PERMITS, PERIOD);
    let mut line = alone_in_line(PERMITS, kept);
    line.acquires(0, &limiter, way);
    // In real time a pause takes longer than requested, and the second grant should be in time.
    let most = if is_virtual() {
        PERIOD - Duration::from_nanos(1)
    } else {
        PERIOD / 2
    };
    pause(limiters, way, most);
    for asker in 1..4 {
        line.acquires(asker, &limiter, way);
    }
    line.judge();
}

/// Permits do not accumulate while the limiter is idle.
fn after_a_pause(limiters: Limiters, way: Way, kept: Kept) {
    const PERMITS: u32 = 2;
    let limiter = limiter(limiters, PERMITS, PERIOD);
    let mut line = alone_in_line(PERMITS, kept);
    line.acquires(0, &limiter, way);
    pause(limiters, way, 3 * PERIOD);
    for asker in 1..4 {
        line.acquires(asker, &limiter, way);
    }
    line.judge();
}

fn several_threads(limiters: Limiters, way: Way, _kept: Kept) {
    let (threads, permits, each) = match world::name() {
        // Under loom, timers of tasks leave no room for more.
        "loom" if way == Way::Async => (2, 1, 1),
        "loom" => (2, 1, 2),
        "shuttle" => (3, 2, 3),
        "sim" => (16, 5, 40),
        _ => (4, 3, 3),
    };
    let shared = limiter(limiters, permits, PERIOD);
    let acquiring: Vec<_> = (0..threads)
        .map(|_| {
            let limiter = shared.clone();
            world::spawn(move || {
                let acquire = |_| {
                    // Loom has no room for pauses; its schedules cover them.
                    let thirds = if world::name() == "loom" {
                        0
                    } else {
                        world::choose(5)
                    };
                    if thirds > 0 {
                        pause(limiters, way, PERIOD * thirds as u32 / 3);
                    }
                    acquired(&limiter, way)
                };
                (0..each).map(acquire).collect::<Vec<_>>()
            })
        })
        .collect();
    let grants: Vec<Grant> = acquiring.into_iter().flat_map(world::join).collect();
    obeys(judge(window(permits, PERIOD), &grants));
}

/// One thread waits for its permits while another tries without waiting.
fn against_tries(limiters: Limiters, way: Way, _kept: Kept) {
    let count = if world::name() == "loom" { 2 } else { 4 };
    let shared = limiter(limiters, 1, PERIOD);
    let limiter = shared.clone();
    let waiting = world::spawn(move || {
        let grants = (0..count).map(|_| acquired(&limiter, way));
        grants.collect::<Vec<_>>()
    });
    let mut grants = Vec::new();
    for _ in 0..count {
        grants.extend(tried(&shared));
        world::yield_now();
    }
    grants.extend(world::join(waiting));
    obeys(judge(window(1, PERIOD), &grants));
}
