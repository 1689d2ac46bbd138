//! T7: timers that may wait for each other share wake-ups, and nothing else.

use std::collections::BTreeSet;
use std::time::Duration;

use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::Coalesce;

use super::super::{Case, Property, Reliance};
use super::form::{Called, LATE, Note, SOON, after};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "t7-windows",
    statement: "Timers that may come a window late come together, none before its deadline or after its window; each is called off alone.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<T: Coalesce, W: World>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("no window", || in_window::<T, W>(Duration::ZERO)),
        Case::new("a short window", || in_window::<T, W>(SOON)),
        Case::new("one of two is called off", one_of_two::<T, W>),
    ];
    // Elsewhere nobody can say when timers were armed.
    if W::name() == "sim" {
        cases.push(Case::new("many of one window", many::<T, W>));
        cases.push(Case::new("windows without end", without_end::<T, W>));
    }
    cases
}

/// Called in its window, as far as the clock of a world says, and told of a moment in it; where time stands still while anybody can
/// run, called at that moment.
fn judge<W: World>(deadline: Deadline, window: Duration, called: Called) {
    let due = called.fired.due;
    let last = Deadline::after(deadline.as_nanos(), window);
    holds!(
        due >= deadline && called.at >= due.as_nanos(),
        "T7: a timer came before its window"
    );
    holds!(due <= last, "T7: a timer was put off beyond its window");
    holds!(
        W::name() != "sim" || called.at <= due.as_nanos() + LATE,
        "T7: a timer came later than it was told"
    );
}

fn in_window<T: Coalesce, W: World>(window: Duration) {
    let service = T::start();
    let deadline = after::<W>(SOON);
    let note = Note::<W>::new();
    service.schedule_within(deadline, window, note.callback());
    judge::<W>(deadline, window, note.wait());
}

/// Who calls one off touches nobody else.
fn one_of_two<T: Coalesce, W: World>() {
    let service = T::start();
    let deadline = after::<W>(SOON);
    let notes = [(); 2].map(|()| Note::<W>::new());
    let handles =
        [0, 1].map(|timer| service.schedule_within(deadline, SOON, notes[timer].callback()));
    let [first, second] = &notes;
    let cancelled = service.cancel(&handles[0]);
    if !cancelled {
        judge::<W>(deadline, SOON, first.wait());
    }
    judge::<W>(deadline, SOON, second.wait());
    drop(service);
    holds!(
        !cancelled || first.called().is_none(),
        "T7: called, and called off nevertheless"
    );
}

/// A hundred deadlines spread over a window that all of them may use: what they may wait for lies within two windows,
/// and half a window is as much as any has to leave unused.
fn many<T: Coalesce, W: World>() {
    const TIMERS: u32 = 100;
    const MOMENTS: usize = 5;
    let window = 1_000 * SOON;
    let service = T::start();
    let timers: Vec<(Deadline, Note<W>)> = (0..TIMERS)
        .map(|timer| {
            let deadline = after::<W>(SOON + window / TIMERS * timer);
            let note = Note::new();
            service.schedule_within(deadline, window, note.callback());
            (deadline, note)
        })
        .collect();
    let mut moments = BTreeSet::new();
    for (deadline, note) in timers {
        let called = note.wait();
        judge::<W>(deadline, window, called);
        moments.insert(called.fired.due);
    }
    let count = moments.len();
    holds!(
        count <= MOMENTS,
        "T7: {TIMERS} timers of one window came at {count} moments"
    );
}

/// The longest window is as good as any.
fn without_end<T: Coalesce, W: World>() {
    let service = T::start();
    let note = Note::<W>::new();
    let deadline = after::<W>(SOON);
    let handle = service.schedule_within(deadline, Duration::MAX, note.callback());
    let never = service.schedule_within(Deadline::NEVER, Duration::MAX, |_| {});
    holds!(
        service.cancel(&never),
        "T7: one that never comes was not armed"
    );
    if !service.cancel(&handle) {
        judge::<W>(deadline, Duration::MAX, note.wait());
    }
}
