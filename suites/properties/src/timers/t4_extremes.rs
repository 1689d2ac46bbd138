//! T4: no delay is too short or too long.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! arm a timer for 0 ns              never fires: its deadline is in the past
//! arm a timer for u64::MAX ns       fires now, or panics: the deadline overflowed
//! arm a timeout of Duration::MAX    is closed as soon as the next one
//! ```

use std::time::Duration;

use flowmeter_harness::channel::Polled;
use flowmeter_harness::sync::{Deadline, world};

use super::super::{Case, Cases, Property, Reliance};
use super::form::{SOON, after, case, case_of_each, is_closed};
use super::log::Log;
use crate::design::timers::{Design, Timers, Way};

pub(crate) const PROPERTY: Property = Property {
    name: "t4-extremes",
    statement: "Deadlines in the past fire, deadlines at the end of time do not, and none panics.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Timers(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let mut cases = Vec::new();
    for timers in design.ways() {
        cases.push(case_of_each(timers, "now and in the past", past));
        // A thread cannot wait for the end of time and return.
        if timers.way() != Way::Thread {
            cases.push(case_of_each(timers, "at the end of time", far_off));
        }
        if timers.way() == Way::Channel {
            cases.push(case(timers, "delays that overflow", overflow));
        }
    }
    cases
}

fn past(timers: Timers) {
    let mut log = Log::start(timers);
    log.waits(Deadline::from_nanos(0));
    log.waits(after(SOON));
    let now = world::now_nanos();
    for deadline in [0, 1, now.saturating_sub(1), now] {
        log.waits(Deadline::from_nanos(deadline));
    }
    log.judge();
}

fn far_off(timers: Timers) {
    let mut log = Log::start(timers);
    let (soon, armed) = log.arm(after(SOON));
    let mut ends = [u64::MAX, u64::MAX - 1, u64::MAX / 2 + 1]
        .map(|deadline| log.arm(Deadline::from_nanos(deadline)));
    log.over(soon, armed.wait());
    for (timer, armed) in &mut ends {
        if armed.has_fired() {
            log.over(*timer, world::now_nanos());
        }
    }
    log.judge();
}

/// Once a timer that was armed later has fired, a long one that fired too would show.
fn overflow(timers: Timers) {
    let service = timers.start();
    let nanos = Duration::from_nanos(u64::MAX);
    let ends = [Duration::MAX, Duration::from_secs(u64::MAX), nanos]
        .map(|delay| (delay, service.timeout::<u32>(delay)));
    let mut soon = service.timeout(SOON);
    is_closed(soon.take());
    for (delay, mut rx) in ends {
        holds_eq!(rx.poll(), Polled::WouldWait, "T4: {delay:?} has passed");
    }
}
