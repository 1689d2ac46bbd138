//! T1: no deadline fires early, in nanoseconds of the clock that set it. Nor does a timeout in an alts.
//!
//! The smallest history that violates it:
//!
//! ```text
//! clock         thread
//!     0 ns      arms a timer for 50,000 ns
//! 49,999 ns     its callback is called: one nanosecond early
//! ```

use std::collections::VecDeque;
use std::time::Duration;

use flowmeter_harness::channel::{Buffer, Chosen, Order, Patience, Polled};
use flowmeter_harness::sync::{Deadline, world};

use super::super::{Case, Cases, Property, Reliance};
use super::form::{SOON, after, case, case_of_each, delays, is_closed};
use super::log::Log;
use crate::design::timers::{Design, Service, Timers, Way};
use crate::design::{Clause, Rx, Tx};

pub(crate) const PROPERTY: Property = Property {
    name: "t1-never-early",
    statement: "No timer fires before its deadline, not even by a nanosecond.",
    relied_on_by: Reliance::All,
    cases: Cases::Timers(cases),
};

pub(crate) const IN_ALTS: Property = Property {
    name: "t1-in-alts",
    statement: "A timeout ends an alts no earlier than its deadline; a value that arrives first wins, and none is lost.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Timers(alts_cases),
};

/// Below, at and above a millisecond, to which designs round.
const DELAYS: [Duration; 4] = [
    Duration::from_nanos(1),
    Duration::from_nanos(1_000_001),
    Duration::from_micros(700),
    Duration::from_micros(2_300),
];

fn cases(design: &Design) -> Vec<Case> {
    let mut cases = Vec::new();
    for timers in design.ways() {
        cases.push(case_of_each(timers, "one after the other", in_turn));
        cases.push(case_of_each(timers, "two at once", two_at_once));
        if timers.way() == Way::Call {
            cases.push(case(timers, "what a callback is told", told));
            // In loom and shuttle time passes at any moment; in std seconds take long.
            if world::name() == "sim" {
                cases.push(case(timers, "at all distances", at_all_distances));
            }
        }
    }
    cases
}

fn alts_cases(design: &Design) -> Vec<Case> {
    let Some(timers) = design.by(Way::Channel) else {
        return Vec::new();
    };
    vec![
        case(timers, "no value comes", alone),
        case(timers, "a value is there", hit),
        case(timers, "a value at the edge", edge),
    ]
}

fn is_due(deadline: Deadline, at: u64) {
    let early = deadline.as_nanos().saturating_sub(at);
    holds_eq!(early, 0, "T1: fired so many nanoseconds early");
}

fn in_turn(timers: Timers) {
    let mut log = Log::start(timers);
    // A property that is explored holds at any length; real time has to try several.
    let delays = if world::name() == "std" {
        &DELAYS[..]
    } else {
        &DELAYS[..2]
    };
    for delay in delays {
        log.waits(after(*delay));
    }
    log.judge();
}

fn two_at_once(timers: Timers) {
    let mut log = Log::start(timers);
    let deadlines = [SOON * 3, SOON].map(after);
    let [(late, slow), (soon, quick)] = deadlines.map(|deadline| log.arm(deadline));
    let other = world::spawn(move || slow.wait());
    log.over(soon, quick.wait());
    log.over(late, world::join(other));
    log.judge();
}

fn told(timers: Timers) {
    let mut log = Log::start(timers);
    log.calls(after(SOON));
    log.judge();
}

/// Timers are armed while others, armed at other moments, are pending at all distances.
fn at_all_distances(timers: Timers) {
    const ROUNDS: usize = 40;
    const TIMERS: usize = 12;
    let mut log = Log::start(timers);
    let mut delays = delays(1);
    let mut armed = VecDeque::new();
    for _ in 0..ROUNDS {
        let some = delays.by_ref().take(TIMERS);
        armed.extend(some.map(|delay| log.schedule(after(delay))));
        // Whichever these are, the next ones are armed at the moment they fire.
        for call in armed.drain(..TIMERS / 2) {
            log.is_called(&call);
        }
    }
    for call in armed {
        log.is_called(&call);
    }
    log.judge();
}

/// A channel and a timeout of the same family.
fn pair(service: &Service) -> (Tx<u32>, Rx<u32>, Rx<u32>) {
    let opened = service.timers().channels().open(Buffer::fixed(1));
    let (tx, rx) = opened.expect("a family with alts has a buffer");
    (tx, rx, service.timeout(SOON))
}

fn choose(value: &Rx<u32>, timeout: &Rx<u32>) -> Chosen<u32> {
    let clauses = [Clause::Take(value), Clause::Take(timeout)];
    let clauses = value.channels().clauses(&clauses);
    let mut alts = clauses.prepare(Order::Priority);
    let chosen = alts.run(&mut [None, None], Patience::Forever);
    chosen.unwrap_or_else(|_| violated!("A7: takes of two channels are no error"))
}

const TIMED_OUT: Chosen<u32> = Chosen::Took {
    clause: 1,
    value: None,
};

fn alone(timers: Timers) {
    let service = timers.start();
    let deadline = after(SOON);
    let (_tx, rx, timeout) = pair(&service);
    holds_eq!(
        choose(&rx, &timeout),
        TIMED_OUT,
        "T1: no value came, and yet"
    );
    is_due(deadline, world::now_nanos());
}

fn hit(timers: Timers) {
    let service = timers.start();
    let (mut tx, rx, mut timeout) = pair(&service);
    holds!(
        tx.put(5).is_ok(),
        "C1: a put on an open channel was refused"
    );
    let first = Chosen::Took {
        clause: 0,
        value: Some(5),
    };
    let chosen = choose(&rx, &timeout);
    holds_eq!(chosen, first, "A5: an earlier clause was able");
    // The losing timeout is still armed: it closes at its deadline.
    is_closed(timeout.take());
}

fn edge(timers: Timers) {
    let service = timers.start();
    let deadline = after(SOON);
    let (mut tx, mut rx, timeout) = pair(&service);
    let putter = world::spawn(move || (tx.put(5).is_ok(), tx));
    let taken = match choose(&rx, &timeout) {
        Chosen::Took { clause: 0, value } => value,
        TIMED_OUT => {
            is_due(deadline, world::now_nanos());
            rx.take().ok()
        }
        other => violated!("A1: the alts answered {other:?}"),
    };
    holds_eq!(taken, Some(5), "A9: a value was lost to a timeout");
    let (accepted, _tx) = world::join(putter);
    holds!(accepted, "C1: a put on an open channel was refused");
    holds_eq!(rx.poll(), Polled::WouldWait, "A1: a value appeared twice");
}
