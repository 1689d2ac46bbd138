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
        // A sleep is called off by its drop.
        let calls_off = timers.cancels() || timers.way() == Way::Future;
        if calls_off && world::name() == "sim" {
            let is_exact = design.claims(Claim::Tickless);
            let name = "after one of three was called off";
            cases.push(case_of_each(timers, name, move |timers| {
                one_of_three(timers, is_exact);
            }));
        }
        if timers.resets() {
            cases.extend([
                case(timers, "moved from never to soon", |timers| {
                    moved(timers, SOON)
                }),
                case(timers, "moved from never to the past", |timers| {
                    moved(timers, Duration::ZERO);
                }),
                case(timers, "moved from a far one to now", moved_to_now),
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

/// Three are due one after the other, at all distances from now and from each other. One is called off, and the other two
/// are in time.
fn one_of_three(timers: Timers, is_exact: bool) {
    for far in (4..36).step_by(3) {
        for apart in (0..far).step_by(2) {
            for off in 0..3 {
                for from in [1, 3] {
                    one_of_three_at(timers, is_exact, (far, apart), (off, from));
                }
            }
        }
    }
}

/// They are due about `from` * 2^`far` ns from now, each 2^`apart` ns after the one before.
fn one_of_three_at(
    timers: Timers,
    is_exact: bool,
    (far, apart): (u32, u32),
    (off, from): (usize, u64),
) {
    let mut log = Log::start(timers);
    if is_exact {
        log = log.with_no_lateness();
    }
    let first = world::now_nanos() + (from << far);
    let due = |nth: u64| Deadline::from_nanos(first + (nth << apart));
    if timers.way() == Way::Call {
        let mut calls = Vec::from([0, 1, 2].map(|nth| log.schedule(due(nth))));
        assert!(log.cancels(&calls.remove(off)), "it is not due");
        calls.iter().for_each(|call| log.is_called(call));
    } else {
        let mut sleeps = Vec::from([0, 1, 2].map(|nth| log.arm(due(nth))));
        drop(sleeps.remove(off));
        for (timer, sleep) in sleeps {
            log.over(timer, sleep.wait());
        }
    }
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

/// The service already waits for the timer that is moved.
fn moved_to_now(timers: Timers) {
    let mut log = Log::start(timers);
    let call = log.schedule(after(FAR));
    log.calls(after(SOON));
    log.moves(&call, after(Duration::ZERO));
    log.is_called(&call);
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
