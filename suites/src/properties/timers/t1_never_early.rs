//! T1: no deadline comes early, in nanoseconds of the clock that set it; nor does a timeout in an alts.

use std::collections::VecDeque;
use std::time::Duration;

use flowmeter_harness::channel::{Alts, Blocking, Buffer, Chosen, Clause, Order, Patience, Polled};
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::{Timeouts, Timers};

use super::super::{Case, Property, Reliance};
use super::form::{Form, SOON, after, delays};
use super::log::Log;

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "t1-never-early",
    statement: "Nothing fires before its deadline, by as little as a nanosecond.",
    relied_on_by: Reliance::Everybody,
};

pub(in crate::properties) const IN_ALTS: Property = Property {
    name: "t1-in-alts",
    statement: "A timeout ends an alts not before its deadline; a value that is there first wins, and none is lost.",
    relied_on_by: Reliance::Nobody,
};

/// Below, at and above a millisecond: designs round to it.
const DELAYS: [Duration; 4] = [
    Duration::from_nanos(1),
    Duration::from_nanos(1_000_001),
    Duration::from_micros(700),
    Duration::from_micros(2_300),
];

pub(super) fn cases<F: Form<W>, W: World>() -> Vec<Case> {
    let form = F::NAME;
    vec![
        Case::new(format!("{form}, one after the other"), in_turn::<F, W>),
        Case::new(format!("{form}, two at once"), two_at_once::<F, W>),
    ]
}

pub(super) fn calling_cases<T: Timers, W: World>() -> Vec<Case> {
    let mut cases = vec![Case::new("what a callback is told", told::<T, W>)];
    // Elsewhere seconds are long, or pass at any time.
    if W::name() == "sim" {
        cases.push(Case::new("at all distances", at_all_distances::<T, W>));
    }
    cases
}

pub(super) fn alts_cases<S: Timeouts<C>, C: Alts + Blocking, W: World>() -> Vec<Case> {
    vec![
        Case::new("nobody comes", alone::<S, C, W>),
        Case::new("a value is there", hit::<S, C>),
        Case::new("a value at the edge", edge::<S, C, W>),
    ]
}

fn is_due(deadline: Deadline, at: u64) {
    let early = deadline.as_nanos().saturating_sub(at);
    holds_eq!(early, 0, "T1: fired so many nanoseconds early");
}

fn in_turn<F: Form<W>, W: World>() {
    let service = F::start();
    let mut log = Log::<W>::of::<F>();
    // What is explored holds at any length; what runs for real does not.
    let delays = if W::name() == "std" {
        &DELAYS[..]
    } else {
        &DELAYS[..2]
    };
    for delay in delays {
        log.waits(&service, after::<W>(*delay));
    }
    log.judge();
}

fn two_at_once<F: Form<W>, W: World>() {
    let service = F::start();
    let mut log = Log::<W>::of::<F>();
    let deadlines = [SOON * 3, SOON].map(after::<W>);
    let [(late, slow), (soon, quick)] = deadlines.map(|deadline| log.arm(&service, deadline));
    let other = W::spawn(move || F::wait(slow));
    log.over(soon, F::wait(quick));
    log.over(late, W::join(other));
    log.judge();
}

fn told<T: Timers, W: World>() {
    let service = T::start();
    let mut log = Log::<W>::new::<T>();
    let call = log.schedule(&service, after::<W>(SOON));
    log.is_called(&call);
    log.judge();
}

/// Timers are armed while others, armed at other moments, lie at all distances.
fn at_all_distances<T: Timers, W: World>() {
    const ROUNDS: usize = 40;
    const TIMERS: usize = 12;
    let service = T::start();
    let mut log = Log::<W>::new::<T>();
    let mut delays = delays(1);
    let mut armed = VecDeque::new();
    for _ in 0..ROUNDS {
        let some = delays.by_ref().take(TIMERS);
        armed.extend(some.map(|delay| log.schedule(&service, after::<W>(delay))));
        // Whichever it is, its moment is where the next begin.
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
fn pair<S: Timeouts<C>, C: Alts>(service: &S) -> (C::Tx<u32>, C::Rx<u32>, C::Rx<u32>) {
    let (tx, rx) = C::open::<u32>(Buffer::fixed(1)).expect("a family with alts has a buffer");
    (tx, rx, service.timeout(SOON))
}

fn choose<C: Alts>(value: &C::Rx<u32>, timeout: &C::Rx<u32>) -> Chosen<u32> {
    let clauses = [Clause::Take(value), Clause::Take(timeout)];
    let mut alts = C::prepare(&clauses, Order::Priority);
    let chosen = C::run(&mut alts, &mut [None, None], Patience::Forever);
    chosen.unwrap_or_else(|_| violated!("A7: takes of two channels are no error"))
}

const TIMED_OUT: Chosen<u32> = Chosen::Took {
    clause: 1,
    value: None,
};

fn alone<S: Timeouts<C>, C: Alts, W: World>() {
    let service = S::start();
    let deadline = after::<W>(SOON);
    let (_tx, rx, timeout) = pair::<S, C>(&service);
    holds_eq!(
        choose::<C>(&rx, &timeout),
        TIMED_OUT,
        "T1: nobody came, and yet"
    );
    is_due(deadline, W::now_nanos());
}

fn hit<S: Timeouts<C>, C: Alts + Blocking>() {
    let service = S::start();
    let (mut tx, rx, timeout) = pair::<S, C>(&service);
    holds!(
        C::put(&mut tx, 5).is_ok(),
        "C1: a put on an open channel was refused"
    );
    let first = Chosen::Took {
        clause: 0,
        value: Some(5),
    };
    let chosen = choose::<C>(&rx, &timeout);
    holds_eq!(chosen, first, "A5: an earlier clause was able");
    // What lost goes on: it closes in its time.
    let mut timeout = timeout;
    holds!(
        C::take(&mut timeout).is_err(),
        "T1: a timeout is a channel without values"
    );
}

fn edge<S: Timeouts<C>, C: Alts + Blocking, W: World>() {
    let service = S::start();
    let deadline = after::<W>(SOON);
    let (mut tx, mut rx, timeout) = pair::<S, C>(&service);
    let putter = W::spawn(move || (C::put(&mut tx, 5).is_ok(), tx));
    let taken = match choose::<C>(&rx, &timeout) {
        Chosen::Took { clause: 0, value } => value,
        TIMED_OUT => {
            is_due(deadline, W::now_nanos());
            C::take(&mut rx).ok()
        }
        other => violated!("A1: the alts answered {other:?}"),
    };
    holds_eq!(taken, Some(5), "A9: a value was lost to a timeout");
    let (accepted, _tx) = W::join(putter);
    holds!(accepted, "C1: a put on an open channel was refused");
    holds_eq!(
        C::poll(&mut rx),
        Polled::WouldWait,
        "A1: a value appeared twice"
    );
}
