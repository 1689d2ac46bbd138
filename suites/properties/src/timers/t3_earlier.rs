//! T3: a deadline earlier than the one the timer sleeps for wakes it.
//!
//! The smallest history that violates it:
//!
//! ```text
//! clock     thread                    timer thread
//!  0 µs     arms a timer for 1 h      sleeps for 1 h
//! 10 µs     arms a timer for 50 µs    sleeps on
//!  1 h                                wakes, calls both
//! ```

use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::sync::{Deadline, world};

use super::super::{Case, Cases, Property, Reliance};
use super::form::{SOON, after, case, case_of_each, delays};
use super::log::{Call, Log};
use crate::design::timers::{Design, Timers, Way};

pub(crate) const PROPERTY: Property = Property {
    name: "t3-earlier",
    statement: "An earlier deadline, scheduled or moved there, wakes a timer thread that sleeps for a later one or for none.",
    relied_on_by: Reliance::All,
    cases: Cases::Timers(cases),
};

/// Longer than any budget: a timer that oversleeps hangs in the std world.
const FAR: Duration = Duration::from_secs(3_600);

fn cases(design: &Design) -> Vec<Case> {
    let mut cases = Vec::new();
    for timers in design.ways() {
        cases.push(case_of_each(timers, "after nothing", after_nothing));
        // A thread's wait is armed when the thread waits.
        if timers.way() != Way::Thread {
            let name = "before one that never comes";
            cases.push(case_of_each(timers, name, before_never));
            cases.push(case_of_each(timers, "before a far one", before_far));
        }
        // Only virtual time shows how late a timer was.
        if timers.way() != Way::Channel && design.claims(Claim::Tickless) && world::name() == "sim"
        {
            let name = "at deadlines between ticks";
            cases.push(case_of_each(timers, name, tickless));
        }
        if timers.cancels() {
            let name = "after the only one was cancelled";
            cases.push(case(timers, name, after_a_cancel));
        }
        if timers.resets() {
            cases.extend([
                case(timers, "moved from never to soon", |timers| {
                    moved(timers, SOON)
                }),
                case(timers, "moved from never to the past", |timers| {
                    moved(timers, Duration::ZERO);
                }),
                case(timers, "moved to later", moved_later),
                case(timers, "moved to never", moved_to_never),
                case(timers, "moved to and fro", to_and_fro),
                case(timers, "a stranger's handle", strangers),
            ]);
        }
    }
    cases
}

fn after_nothing(timers: Timers) {
    let mut log = Log::start(timers);
    for _ in 0..2 {
        log.waits(after(SOON));
    }
    log.judge();
}

fn before_never(timers: Timers) {
    let mut log = Log::start(timers);
    let _never = log.arm(Deadline::NEVER);
    log.waits(after(SOON));
    log.judge();
}

fn tickless(timers: Timers) {
    let mut log = Log::start(timers).with_no_lateness();
    for delay in delays(3).take(100) {
        log.waits(after(delay));
    }
    log.judge();
}

fn after_a_cancel(timers: Timers) {
    let mut log = Log::start(timers);
    let far = log.schedule(after(FAR));
    // Where time passes freely it may have fired.
    if !log.cancels(&far) {
        log.is_called(&far);
    }
    log.calls(after(SOON));
    log.judge();
}

/// Where time passes only when all threads wait, the far deadline is seen not to have passed.
fn before_far(timers: Timers) {
    let mut log = Log::start(timers);
    let _far = log.arm(after(FAR));
    log.waits(after(SOON));
    log.judge();
}

/// Moves a timer from never to that moment.
fn moved(timers: Timers, delay: Duration) {
    let mut log = Log::start(timers);
    let call = log.schedule(Deadline::NEVER);
    let deadline = after(delay);
    log.moves(&call, deadline);
    log.is_called(&call);
    log.moves(&call, deadline);
    log.judge();
}

fn moved_later(timers: Timers) {
    let mut log = Log::start(timers);
    let [soon, later] = [1, 3].map(|times| after(SOON * times));
    let call = log.schedule(soon);
    log.moves(&call, later);
    log.is_called(&call);
    log.judge();
}

fn moved_to_never(timers: Timers) {
    let mut log = Log::start(timers);
    let soon = after(SOON);
    let call = log.schedule(soon);
    if log.moves(&call, Deadline::NEVER) {
        let past = Deadline::from_nanos(soon.as_nanos() + 1);
        log.calls(past);
        log.ends();
        log.looks_at(&call);
    } else {
        log.is_called(&call);
    }
    log.judge();
}

/// The remains of an earlier move neither fire nor hide a timer.
fn to_and_fro(timers: Timers) {
    let mut log = Log::start(timers);
    let soon = after(SOON);
    let call = log.schedule(soon);
    for deadline in [Deadline::NEVER, soon] {
        log.moves(&call, deadline);
    }
    log.is_called(&call);
    log.calls(after(SOON));
    log.judge();
}

/// A handle names a timer of its own service only.
fn strangers(timers: Timers) {
    let [mut one, mut other] = [timers; 2].map(Log::start);
    let own = other.schedule(Deadline::NEVER);
    for timer in [2, 3] {
        let stranger = one.schedule(Deadline::NEVER);
        let stranger = Call { timer, ..stranger };
        other.moves(&stranger, Deadline::from_nanos(0));
    }
    other.calls(after(SOON));
    other.ends();
    other.looks_at(&own);
    other.judge();
}
