//! L1 (`WaiterFifo`): waiters for a permit are served first come, first served.
//!
//! The smallest history that violates it:
//!
//! ```text
//! waiter 1            waiter 2              another thread
//!                                           acquire -> granted, one permit a period
//! acquire waits
//!                     acquire waits
//!                                           a period passes
//!                     granted: before waiter 1
//! ```

use std::time::Duration;

use flowmeter_harness::limiter::Attempt;
use flowmeter_harness::spec::limiter::Event;
use flowmeter_harness::sync::world;

use super::line::Line;
use super::{Kept, PERIOD, acquired, limiter, pause, time_stands_still};
use crate::design::limiters::{Design, Limiters};
use crate::form::Way;
use crate::{Case, Cases, Property, Reliance};

pub(crate) const PROPERTY: Property = Property {
    name: "l1-waiter-fifo",
    statement: "Waiting acquisitions are granted in the order in which they began to wait.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Limiters(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let (limiters, kept) = (design.limiters, Kept::of(design));
    let mut cases = Vec::new();
    if !kept.first_come {
        return cases;
    }
    for way in &design.acquires {
        match way {
            // In that world a pause ends only when all other threads wait.
            Way::Blocking if time_stands_still() => cases.extend([
                Case::new("blocking, in turn", move || in_turn(limiters, kept)),
                Case::new("blocking, a try does not overtake", move || {
                    try_behind(limiters, kept);
                }),
            ]),
            Way::Blocking => {}
            Way::Async => cases.push(Case::new("async, by hand", move || by_hand(limiters, kept))),
        }
    }
    cases
}

fn in_line(kept: Kept) -> Line {
    kept.line(1, time_stands_still())
}

/// Futures polled by hand fix the order of waiting. The first is always polled last: after one that waits behind it
/// and one that has just arrived.
fn by_hand(limiters: Limiters, kept: Kept) {
    let limiter = limiter(limiters, 1, PERIOD);
    let mut line = in_line(kept);
    line.tries(&limiter);
    let mut first = limiter.acquire_async();
    let mut second = limiter.acquire_async();
    if line.polls(FIRST, 1, first.as_mut()) {
        return line.judge();
    }
    loop {
        if line.polls(SECOND, 1, second.as_mut()) {
            line.awaits(FIRST, 1, first.as_mut());
            return line.judge();
        }
        {
            let mut registering = limiter.acquire_async();
            if line.polls(NEWCOMER, 1, registering.as_mut()) {
                // Their turn came first, and they were not polled since.
                return line.judge();
            }
            line.drops(NEWCOMER, registering);
        }
        if line.polls(FIRST, 1, first.as_mut()) {
            break;
        }
        world::yield_now();
    }
    line.awaits(SECOND, 1, second.as_mut());
    line.judge();
}

const FIRST: usize = 0;
const SECOND: usize = 1;
const NEWCOMER: usize = 2;

fn in_turn(limiters: Limiters, kept: Kept) {
    let shared = limiter(limiters, 1, PERIOD);
    let mut line = in_line(kept);
    line.acquires(0, &shared, Way::Blocking);
    let waiting: Vec<_> = (1..7)
        .map(|asker| {
            let limiter = shared.clone();
            line.asks(asker, 1, None);
            let waiter = world::spawn(move || (acquired(&limiter, Way::Blocking).until, asker));
            pause(limiters, Way::Blocking, Duration::from_nanos(1));
            waiter
        })
        .collect();
    let mut served: Vec<(u64, usize)> = waiting.into_iter().map(world::join).collect();
    served.sort_unstable();
    for (at, asker) in served {
        line.granted_at(asker, at);
    }
    line.judge();
}

/// The permit is back while a waiter waits for it. Two timers fire at the same moment, and the try's was armed first,
/// so it runs before the waiter is awake.
fn try_behind(limiters: Limiters, kept: Kept) {
    let shared = limiter(limiters, 1, PERIOD);
    let mut line = in_line(kept);
    line.acquires(0, &shared, Way::Blocking);
    let limiter = shared.clone();
    let waiter = world::spawn(move || {
        pause(limiters, Way::Blocking, PERIOD / 2);
        let asked = world::now_nanos();
        limiter.acquire();
        (asked, world::now_nanos())
    });
    pause(limiters, Way::Blocking, PERIOD);
    let tried = world::now_nanos();
    let granted = shared.try_acquire() == Attempt::Granted;
    let (asked, served) = world::join(waiter);
    line.asked_at(1, 1, None, asked);
    line.write(Event::Tried {
        granted,
        from: tried,
        at: tried,
    });
    line.granted_at(1, served);
    line.judge();
}
