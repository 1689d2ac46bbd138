//! T2: a timer fires once, and never after a cancel that was answered `true`.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! thread                       timer thread
//! cancel -> true
//!                              calls the callback
//!
//! cancel -> false, not called yet
//!                              never calls the callback: false promises the call
//! ```

use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::sync::{Deadline, world};

use super::super::{Case, Cases, Property, Reliance};
use super::form::{Armed, Gate, LATE, Note, SOON, after, case, case_of_each};
use super::log::{Call, Log};
use crate::bell::Bell;
use crate::design::timers::{Design, Handle, Service, Timers, Way};
use crate::patience::{end, until};

pub(crate) const PROPERTY: Property = Property {
    name: "t2-once",
    statement: "Every timer fires once, except after a cancel that returned true; then it never fires.",
    relied_on_by: Reliance::All,
    cases: Cases::Timers(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let mut cases = Vec::new();
    for timers in design.ways() {
        cases.push(case_of_each(timers, "all fire", all_fire));
        if timers.way() == Way::Call && design.by(Way::Future).is_some() {
            let name = "sleeps and callbacks that are due together";
            cases.push(case(timers, name, of_both_forms));
        }
        if timers.cancels() {
            cases.extend([
                case(timers, "cancelled in time", in_time),
                case(timers, "cancelled at the edge", edge),
                case(timers, "a stale handle", stale),
                case(timers, "a stranger's handle", strangers),
                case(timers, "two that call each other off", each_other),
            ]);
            // More timers than others have room for.
            if matches!(world::name(), "std" | "sim") {
                let name = "one of a burst that calls off the others";
                cases.push(case(timers, name, calls_off_the_rest));
            }
            // Too many for loom, which explores few orders of them.
            if world::name() != "loom" {
                cases.push(case(timers, "beside many that are cancelled", beside_many));
            }
            if design.claims(Claim::CallsUnlocked) {
                let name = "what is cancelled uses its timer";
                cases.push(case(timers, name, cancelled_acts));
            }
        }
    }
    let sleeps = design.by(Way::Future);
    if let Some(timers) = sleeps.filter(|_| design.claims(Claim::CallsUnlocked)) {
        cases.push(case(timers, "a sleep that is dropped", dropped_sleep));
        let name = "what a sleep's waker holds uses its timer";
        cases.push(case(timers, name, wakers_act));
    }
    cases
}

/// What a cancelled callback holds is dropped with no lock held.
fn cancelled_acts(timers: Timers) {
    struct Acts(Service);
    impl Drop for Acts {
        fn drop(&mut self) {
            self.0.schedule(Deadline::NEVER, |_| {});
        }
    }
    let service = timers.start();
    let acts = Acts(service.clone());
    let handle = service.schedule(Deadline::NEVER, move |_| drop(acts));
    // A lock that is held then is a deadlock here.
    let is_cancelled = service.cancel(&handle);
    holds!(is_cancelled, "T2: a cancel of a timer that is armed");
}

/// A waker that a sleep needs no longer is dropped with no lock held.
fn wakers_act(timers: Timers) {
    struct Acts(Service);
    impl Wake for Acts {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Acts {
        fn drop(&mut self) {
            let mut sleep = self.0.sleep(Deadline::NEVER);
            let polled = sleep.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending(), "it never ends");
        }
    }
    let service = timers.start();
    let mut sleep = service.sleep(Deadline::NEVER);
    // Each takes the place of the former one, and the last goes with the sleep. A lock that is held then is a deadlock.
    for _ in 0..3 {
        let waker = Waker::from(Arc::new(Acts(service.clone())));
        let polled = sleep.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending(), "it never ends");
    }
}

/// It is cancelled, and its task is let go.
fn dropped_sleep(timers: Timers) {
    let service = timers.start();
    let bell = Arc::<Bell>::default();
    let waker = Waker::from(Arc::clone(&bell));
    let mut sleep = service.sleep(Deadline::NEVER);
    let polled = sleep.as_mut().poll(&mut Context::from_waker(&waker));
    assert!(polled.is_pending(), "it never ends");
    drop((sleep, waker));
    holds_eq!(
        Arc::strong_count(&bell),
        1,
        "T2: a sleep that was dropped has left its waker"
    );
}

fn all_fire(timers: Timers) {
    let mut log = Log::start(timers);
    // The same deadline twice, and not in order.
    let deadlines = [2, 1, 1].map(|times| after(SOON * times));
    for (timer, armed) in deadlines.map(|deadline| log.arm(deadline)) {
        log.over(timer, armed.wait());
    }
    log.judge();
}

/// Callbacks come before sleeps of the same deadline, between them and behind them.
fn of_both_forms(timers: Timers) {
    let service = timers.start();
    let deadline = after(SOON);
    let armed = [false, true, true, false, true, false].map(|sleeps| match sleeps {
        true => Armed::sleep(deadline, &service),
        false => Armed::call(deadline, &service),
    });
    for timer in armed {
        timer.wait();
    }
}

/// Cancels it. `true` means that it is never called, `false` that it was called or is about to be.
fn agrees(mut log: Log, deadline: Deadline, call: &Call) {
    if log.cancels(call) {
        let past = Deadline::from_nanos(deadline.as_nanos() + 1);
        log.calls(past);
        log.ends();
        log.looks_at(call);
    } else {
        log.is_called(call);
    }
    log.judge();
}

fn in_time(timers: Timers) {
    let mut log = Log::start(timers);
    let call = log.schedule(Deadline::NEVER);
    log.cancels(&call);
    holds!(!log.service().cancel(&call.handle), "T2: cancelled twice");
    let later = log.schedule(after(SOON));
    log.is_called(&later);
    log.ends();
    log.looks_at(&call);
    log.judge();
    holds!(
        call.note.is_dropped(),
        "T2: a cancelled callback was never dropped"
    );
}

fn edge(timers: Timers) {
    let mut log = Log::start(timers);
    let deadline = after(SOON);
    let call = log.schedule(deadline);
    if world::name() == "std" {
        // Real time does not reach the edge by itself.
        while world::now_nanos() < deadline.as_nanos() {
            world::yield_now();
        }
    }
    agrees(log, deadline, &call);
}

/// Two timers are due together and cancel each other. The first cancel is in time, since the other callback was not
/// called.
fn each_other(timers: Timers) {
    let service = timers.start();
    let handles = Arc::new(world::Mutex::new([None, None]));
    // For each: whether it was called, whether it cancelled the other, and whether the other had been called.
    let seen = Arc::new(world::Mutex::new([None, None]));
    let notes = [(); 2].map(|()| Note::new());
    let deadline = after(SOON);
    handles.with(|those| {
        for (one, note) in notes.iter().enumerate() {
            let (service, handles, seen) = (service.clone(), handles.clone(), seen.clone());
            let (schedule, callback) = (service.clone(), note.callback());
            those[one] = Some(schedule.schedule(deadline, move |fired| {
                seen.with(|seen| seen[one] = Some((false, false)));
                let other: Option<Handle> = handles.with(|those| those[1 - one].take());
                let cancelled = other.is_some_and(|other| service.cancel(&other));
                seen.with(|seen| seen[one] = Some((cancelled, seen[1 - one].is_some())));
                callback(fired);
            }));
        }
    });
    let called = notes.map(|note| note.wait_for_end().is_some());
    // The service goes on: a timer that never fires is a deadlock here.
    let late = Note::new();
    service.schedule(Deadline::from_nanos(0), late.callback());
    late.wait();
    holds!(called != [false; 2], "T2: neither of two timers was called");
    for (one, seen) in seen.with(|seen| *seen).into_iter().enumerate() {
        let Some((cancelled, other_was_called)) = seen else {
            continue;
        };
        holds!(
            cancelled || other_was_called,
            "T2: a cancel came too late for a callback that had not been called"
        );
        holds!(
            !(cancelled && called[1 - one]),
            "T2: called after a cancel that answered true"
        );
    }
}

/// Timers of a burst are called one after the other, and one of them cancels all others. Each is called, or was cancelled
/// in time. Then a timer comes in every tick of more than a turn, so that each place of a wheel is used again. All of
/// them fire.
fn calls_off_the_rest(timers: Timers) {
    // More than a service claims at once.
    let burst = if world::name() == "std" { 150 } else { 8 };
    let by = world::choose(burst);
    let service = timers.start();
    let (gate, _) = busy(&service);
    let deadline = after(SOON);
    let handles = Arc::new(world::Mutex::new(Vec::<Handle>::new()));
    let answers = Arc::new(world::Mutex::new(Vec::new()));
    let notes: Vec<_> = (0..burst).map(|_| Note::new()).collect();
    for (one, note) in notes.iter().enumerate() {
        let (own, others, answers) = (service.clone(), handles.clone(), answers.clone());
        let callback = note.callback();
        let handle = service.schedule(deadline, move |fired| {
            if one == by {
                let others = others.with(std::mem::take);
                let cancelled = others.iter().map(|other| own.cancel(other));
                let cancelled: Vec<bool> = cancelled.collect();
                answers.with(|answers| *answers = cancelled);
            }
            callback(fired);
        });
        handles.with(|handles| handles.push(handle));
    }
    gate.open();
    notes[by].wait();
    let ends = notes.iter().map(Note::wait_for_end);
    let called: Vec<bool> = ends.map(|end| end.is_some()).collect();
    let answers = answers.with(std::mem::take);
    for (one, (called, cancelled)) in called.into_iter().zip(answers).enumerate() {
        holds!(
            called != cancelled,
            "T2: timer {one} of a burst was called: {called}, and cancelled in time: {cancelled}"
        );
    }
    // A turn of 64 slots of so many nanoseconds, and of 512 ticks where time passes quickly.
    let mut turns = vec![(1 << 12, 70)];
    if world::name() == "sim" {
        turns.extend([(1 << 6, 70), (LATE, 520)]);
    }
    for (tick, ticks) in turns {
        let begin = world::now_nanos();
        let later: Vec<_> = (1..=ticks)
            .map(|number| {
                let note = Note::new();
                let due = Deadline::from_nanos(begin + number * tick);
                service.schedule(due, note.callback());
                note
            })
            .collect();
        let end = end();
        for note in later {
            // A service may look at what is no timer for ever, which no world takes for a deadlock.
            let called = match world::name() {
                "std" => until(end, || note.called()),
                _ => Some(note.wait()),
            };
            holds!(called.is_some(), "T2: a timer behind a burst never fired");
        }
    }
}

/// Occupies the service until the gate is opened. Returns also a moment that it has seen pass.
fn busy(service: &Service) -> (Gate, u64) {
    let [running, gate] = [(); 2].map(|()| Gate::new());
    let (runs, goes_on) = (running.clone(), gate.clone());
    let due = after(SOON);
    service.schedule(due, move |_| {
        runs.open();
        goes_on.pass();
    });
    running.pass();
    (gate, due.as_nanos())
}

/// The service is busy. One timer is armed, then many that are cancelled at once, all for a deadline that has passed or
/// for one to come.
fn beside_many(timers: Timers) {
    const MANY: usize = 100;
    for delay in [Duration::ZERO, SOON] {
        let service = timers.start();
        let (gate, due) = busy(&service);
        let deadline = Deadline::after(due, delay);
        let note = Note::new();
        service.schedule(deadline, note.callback());
        for _ in 0..MANY {
            let handle = service.schedule(deadline, |_| {});
            service.cancel(&handle);
        }
        gate.open();
        note.wait();
    }
}

/// The handle of a timer that has fired does not name a later timer.
fn stale(timers: Timers) {
    let mut log = Log::start(timers);
    let first = log.schedule(after(SOON));
    log.is_called(&first);
    let second = log.schedule(after(SOON));
    log.cancels(&first);
    log.is_called(&second);
    log.judge();
}

/// A handle names a timer of its own service only.
fn strangers(timers: Timers) {
    let [mut one, mut other] = [timers; 2].map(Log::start);
    let own = other.schedule(Deadline::NEVER);
    for timer in [1, 2] {
        let stranger = one.schedule(Deadline::NEVER);
        let stranger = Call { timer, ..stranger };
        other.cancels(&stranger);
    }
    let is_dropped = own.note.is_dropped();
    holds!(!is_dropped, "T2: called off by a stranger's handle");
    other.cancels(&own);
    other.judge();
}
