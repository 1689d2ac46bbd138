//! T2: fires once; never after a cancel that was answered `true`.

use std::sync::Arc;

use flowmeter_harness::sync::{Deadline, Lock, World};
use flowmeter_harness::timer::Cancel;

use super::super::{Case, Property, Reliance};
use super::form::{Form, Note, SOON, after};
use super::log::{Call, Log};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "t2-once",
    statement: "Everything fires, once; nothing after a cancel that answered true, and all else after one that answered false.",
    relied_on_by: Reliance::Everybody,
};

pub(super) fn cases<F: Form<W>, W: World>() -> Vec<Case> {
    vec![Case::new(
        format!("{}, all fire", F::NAME),
        all_fire::<F, W>,
    )]
}

pub(super) fn cancel_cases<T: Cancel, W: World>() -> Vec<Case> {
    vec![
        Case::new("cancelled in time", in_time::<T, W>),
        Case::new("cancelled at the edge", edge::<T, W>),
        Case::new("a stale handle", stale::<T, W>),
        Case::new("a stranger's handle", strangers::<T, W>),
        Case::new("two that call each other off", each_other::<T, W>),
    ]
}

fn all_fire<F: Form<W>, W: World>() {
    let service = F::start();
    let mut log = Log::<W>::of::<F>();
    // The same deadline twice, and not in order.
    let deadlines = [2, 1, 1].map(|times| after::<W>(SOON * times));
    for (timer, armed) in deadlines.map(|deadline| log.arm(&service, deadline)) {
        let at = F::wait(armed);
        log.over(timer, at);
    }
    log.judge();
}

/// Cancels it: `true` means never called, `false` that it has been or is about to be.
fn agrees<T: Cancel, W: World>(mut log: Log<W>, service: T, deadline: Deadline, call: &Call<T, W>) {
    if log.cancels(&service, call) {
        let past = Deadline::from_nanos(deadline.as_nanos() + 1);
        let later = log.schedule(&service, past);
        log.is_called(&later);
        log.ends(service);
        log.looks_at(call);
    } else {
        log.is_called(call);
    }
    log.judge();
}

fn in_time<T: Cancel, W: World>() {
    let service = T::start();
    let mut log = Log::<W>::new::<T>();
    let call = log.schedule(&service, Deadline::NEVER);
    log.cancels(&service, &call);
    holds!(!service.cancel(&call.handle), "T2: cancelled twice");
    let note = call.note.clone();
    let later = log.schedule(&service, after::<W>(SOON));
    log.is_called(&later);
    log.ends(service);
    log.looks_at(&call);
    log.judge();
    holds!(
        note.is_dropped(),
        "T2: a cancelled callback was never dropped"
    );
}

fn edge<T: Cancel, W: World>() {
    let service = T::start();
    let mut log = Log::<W>::new::<T>();
    let deadline = after::<W>(SOON);
    let call = log.schedule(&service, deadline);
    if W::name() == "std" {
        // Real time does not come to the edge by itself.
        while W::now_nanos() < deadline.as_nanos() {
            W::yield_now();
        }
    }
    agrees::<T, W>(log, service, deadline, &call);
}

/// Of two that are due together and call each other off, the first comes in time, since nobody has called the other.
fn each_other<T: Cancel, W: World>() {
    let service = Arc::new(T::start());
    let handles = Arc::new(W::Mutex::new([None, None]));
    // Which of them was called, whether it called off the other, and whether that one had been called.
    let seen = Arc::new(W::Mutex::new([None, None]));
    let notes = [(); 2].map(|()| Note::<W>::new());
    let deadline = after::<W>(SOON);
    handles.with(|those| {
        for (one, note) in notes.iter().enumerate() {
            let (service, handles, seen) = (service.clone(), handles.clone(), seen.clone());
            let (schedule, callback) = (service.clone(), note.callback());
            those[one] = Some(schedule.schedule(deadline, move |fired| {
                seen.with(|seen| seen[one] = Some((false, false)));
                let other: Option<T::Handle> = handles.with(|those| those[1 - one].take());
                let cancelled = other.is_some_and(|other| service.cancel(&other));
                seen.with(|seen| seen[one] = Some((cancelled, seen[1 - one].is_some())));
                callback(fired);
            }));
        }
    });
    let called = notes.map(|note| note.wait_for_end().is_some());
    holds!(called != [false; 2], "T2: neither of two timers was called");
    for (one, seen) in seen.with(|seen| *seen).into_iter().enumerate() {
        let Some((cancelled, other_was_called)) = seen else {
            continue;
        };
        holds!(
            cancelled || other_was_called,
            "T2: a cancel came too late for a callback that nobody had called"
        );
        holds!(
            !(cancelled && called[1 - one]),
            "T2: called after a cancel that answered true"
        );
    }
}

/// The handle of a timer that has fired names no later one.
fn stale<T: Cancel, W: World>() {
    let service = T::start();
    let mut log = Log::<W>::new::<T>();
    let first = log.schedule(&service, after::<W>(SOON));
    log.is_called(&first);
    let second = log.schedule(&service, after::<W>(SOON));
    log.cancels(&service, &first);
    log.is_called(&second);
    log.judge();
}

/// A handle names a timer of its own service only.
fn strangers<T: Cancel, W: World>() {
    let [one, other] = [(); 2].map(|()| T::start());
    let [mut of_one, mut of_other] = [(); 2].map(|()| Log::<W>::new::<T>());
    let own = of_other.schedule(&other, Deadline::NEVER);
    for timer in [1, 2] {
        let stranger = of_one.schedule(&one, Deadline::NEVER);
        let stranger = Call { timer, ..stranger };
        of_other.cancels(&other, &stranger);
    }
    let is_dropped = own.note.is_dropped();
    holds!(!is_dropped, "T2: called off by a stranger's handle");
    of_other.cancels(&other, &own);
    of_other.judge();
}
