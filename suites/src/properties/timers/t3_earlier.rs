//! T3: a deadline earlier than the one that is slept for is not slept through.

use std::time::Duration;

use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::{Cancel, Reset, Timers};

use super::super::{Case, Property, Reliance};
use super::form::{Form, Note, SOON, Standing, after};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "t3-earlier",
    statement: "An earlier deadline, scheduled or moved there, wakes a timer that sleeps for a later one or for none.",
    relied_on_by: Reliance::Everybody,
};

/// Longer than any budget: a timer that oversleeps hangs in the std world.
const FAR: Duration = Duration::from_secs(3_600);

pub(super) fn cases<F: Form<W>, W: World>() -> Vec<Case> {
    vec![Case::new(format!("{}, after nothing", F::NAME), || {
        let service = F::start();
        F::wait(service.arm(after::<W>(SOON)));
        F::wait(service.arm(after::<W>(SOON)));
    })]
}

pub(super) fn standing_cases<F: Standing<W>, W: World>() -> Vec<Case> {
    let form = F::NAME;
    vec![
        Case::new(format!("{form}, before one that never comes"), || {
            let service = F::start();
            let _never = service.arm(Deadline::NEVER);
            F::wait(service.arm(after::<W>(SOON)));
        }),
        Case::new(format!("{form}, before a far one"), before_far::<F, W>),
    ]
}

pub(super) fn cancel_cases<T: Cancel, W: World>() -> Vec<Case> {
    vec![Case::new("after the only one was cancelled", || {
        let service = T::start();
        let handle = service.schedule(after::<W>(FAR), |_| ());
        service.cancel(&handle);
        called::<T, W>(&service, after::<W>(SOON));
    })]
}

pub(super) fn reset_cases<T: Reset, W: World>() -> Vec<Case> {
    vec![
        Case::new("moved from never to soon", || {
            moved::<T, W>(Deadline::NEVER, SOON)
        }),
        Case::new("moved from never to the past", || {
            moved::<T, W>(Deadline::NEVER, Duration::ZERO);
        }),
        Case::new("moved to later", moved_later::<T, W>),
        Case::new("moved to never", moved_to_never::<T, W>),
        Case::new("moved to and fro", to_and_fro::<T, W>),
        Case::new("a stranger's handle", strangers::<T, W>),
    ]
}

fn called<T: Timers, W: World>(service: &T, deadline: Deadline) {
    let note = Note::<W>::new();
    service.schedule(deadline, note.callback());
    note.wait();
}

/// Where time passes only when all wait it can be seen that the far deadline was not waited for.
fn before_far<F: Standing<W>, W: World>() {
    let service = F::start();
    let far = after::<W>(FAR);
    let _far = service.arm(far);
    let at = F::wait(service.arm(after::<W>(SOON)));
    if W::NAME == "sim" {
        assert!(at < far.as_nanos(), "T3: slept through an earlier deadline");
    }
}

fn moved<T: Reset, W: World>(from: Deadline, delay: Duration) {
    let service = T::start();
    let note = Note::<W>::new();
    let handle = service.schedule(from, note.callback());
    let deadline = after::<W>(delay);
    assert!(
        service.reset(&handle, deadline),
        "T3: it cannot have fired, and was not moved"
    );
    let called = note.wait();
    assert!(
        called.at >= deadline.as_nanos(),
        "T1: fired before the deadline it was moved to"
    );
    assert_eq!(
        called.fired.due, deadline,
        "T1: the callback was told another deadline"
    );
    assert!(
        !service.reset(&handle, deadline),
        "T3: moved what had fired"
    );
}

fn moved_later<T: Reset, W: World>() {
    let service = T::start();
    let note = Note::<W>::new();
    let [soon, later] = [1, 3].map(|times| after::<W>(SOON * times));
    let handle = service.schedule(soon, note.callback());
    let due = if service.reset(&handle, later) {
        later
    } else {
        soon
    };
    assert!(
        note.wait().at >= due.as_nanos(),
        "T1: fired before the deadline it was moved to"
    );
}

fn moved_to_never<T: Reset, W: World>() {
    let service = T::start();
    let note = Note::<W>::new();
    let soon = after::<W>(SOON);
    let handle = service.schedule(soon, note.callback());
    if service.reset(&handle, Deadline::NEVER) {
        called::<T, W>(&service, Deadline::from_nanos(soon.as_nanos() + 1));
        drop(service);
        assert!(
            note.called().is_none(),
            "T3: fired at the deadline it was moved away from"
        );
    } else {
        note.wait();
    }
}

/// What an earlier move left behind neither fires nor hides anything.
fn to_and_fro<T: Reset, W: World>() {
    let service = T::start();
    let note = Note::<W>::new();
    let soon = after::<W>(SOON);
    let handle = service.schedule(soon, note.callback());
    let there = service.reset(&handle, Deadline::NEVER);
    let back = service.reset(&handle, soon);
    assert_eq!(there, back, "T3: lost while it was moved");
    assert!(note.wait().at >= soon.as_nanos(), "T1: fired early");
    called::<T, W>(&service, after::<W>(SOON));
}

/// A handle names a timer of its own service only.
fn strangers<T: Reset, W: World>() {
    let [one, other] = [(); 2].map(|()| T::start());
    let handles = [(); 2].map(|()| one.schedule(Deadline::NEVER, |_| ()));
    let note = Note::<W>::new();
    other.schedule(Deadline::NEVER, note.callback());
    for handle in &handles {
        let moved = other.reset(handle, Deadline::from_nanos(0));
        assert!(!moved, "T3: moved what another service had armed");
    }
    called::<T, W>(&other, after::<W>(SOON));
    drop(other);
    assert!(
        note.called().is_none(),
        "T3: moved by the handle of another service's timer"
    );
}
