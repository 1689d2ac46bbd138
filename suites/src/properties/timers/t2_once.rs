//! T2: fires once; never after a cancel that was answered `true`.

use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::Cancel;

use super::super::{Case, Property, Reliance};
use super::form::{Form, Note, SOON, after};

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
    ]
}

fn all_fire<F: Form<W>, W: World>() {
    let service = F::start();
    // The same deadline twice, and not in order.
    let deadlines = [2, 1, 1].map(|times| after::<W>(SOON * times));
    for armed in deadlines.map(|deadline| service.arm(deadline)) {
        F::wait(armed);
    }
}

/// Lets everything fire that is due before this.
fn until_past<T: Cancel, W: World>(service: &T, deadline: Deadline) {
    let note = Note::<W>::new();
    let past = Deadline::from_nanos(deadline.as_nanos() + 1);
    service.schedule(past, note.callback());
    note.wait();
}

/// After a cancel: `true` means never called, `false` that it has been or is about to be.
fn agrees<T: Cancel, W: World>(service: T, deadline: Deadline, note: &Note<W>, cancelled: bool) {
    if cancelled {
        until_past::<T, W>(&service, deadline);
        // With its service ends whatever it might still be doing.
        drop(service);
        assert!(
            note.called().is_none(),
            "T2: fired after a cancel that answered true"
        );
    } else {
        note.wait();
    }
}

fn in_time<T: Cancel, W: World>() {
    let service = T::start();
    let note = Note::<W>::new();
    let handle = service.schedule(Deadline::NEVER, note.callback());
    assert!(
        service.cancel(&handle),
        "T2: it cannot have fired, and was not cancelled"
    );
    assert!(!service.cancel(&handle), "T2: cancelled twice");
    agrees::<T, W>(service, after::<W>(SOON), &note, true);
    assert!(
        note.is_dropped(),
        "T2: a cancelled callback was never dropped"
    );
}

fn edge<T: Cancel, W: World>() {
    let service = T::start();
    let note = Note::<W>::new();
    let deadline = after::<W>(SOON);
    let handle = service.schedule(deadline, note.callback());
    if W::NAME == "std" {
        // Real time does not come to the edge by itself.
        while W::now_nanos() < deadline.as_nanos() {
            W::yield_now();
        }
    }
    let cancelled = service.cancel(&handle);
    agrees::<T, W>(service, deadline, &note, cancelled);
}

/// The handle of a timer that has fired names no later one.
fn stale<T: Cancel, W: World>() {
    let service = T::start();
    let first = Note::<W>::new();
    let handle = service.schedule(after::<W>(SOON), first.callback());
    first.wait();
    let second = Note::<W>::new();
    service.schedule(after::<W>(SOON), second.callback());
    assert!(!service.cancel(&handle), "T2: cancelled what had fired");
    second.wait();
}

/// A handle names a timer of its own service only.
fn strangers<T: Cancel, W: World>() {
    let [one, other] = [(); 2].map(|()| T::start());
    let handles = [(); 2].map(|()| one.schedule(Deadline::NEVER, |_| ()));
    let note = Note::<W>::new();
    let own = other.schedule(Deadline::NEVER, note.callback());
    for handle in &handles {
        let cancelled = other.cancel(handle);
        assert!(!cancelled, "T2: cancelled what another service had armed");
    }
    assert!(!note.is_dropped(), "T2: called off by a stranger's handle");
    assert!(
        other.cancel(&own),
        "T2: it cannot have fired, and was not cancelled"
    );
}
