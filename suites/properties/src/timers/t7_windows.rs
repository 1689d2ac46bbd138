//! T7: timers with overlapping windows share wake-ups, and nothing else.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! arm 1 for 50 µs, window 50 µs
//! called at 49 µs, or told a moment after 100 µs
//!
//! arm 1 and 2 for 50 µs, window 50 µs
//! cancel 1 -> true
//! 2 is never called: the cancel of 1 removed 2 as well
//! ```

use std::collections::BTreeSet;
use std::time::Duration;

use flowmeter_harness::sync::{Deadline, world};

use super::super::{Case, Cases, Property, Reliance};
use super::form::{Called, LATE, Note, SOON, after, case};
use crate::design::timers::{Design, Timers};

pub(crate) const PROPERTY: Property = Property {
    name: "t7-windows",
    statement: "Timers that may come a window late come together, none before its deadline or after its window; each is cancelled alone.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Timers(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let Some(timers) = design.ways().find(|timers| timers.coalesces()) else {
        return Vec::new();
    };
    let mut cases = vec![
        case(timers, "no window", |timers| {
            in_window(timers, Duration::ZERO)
        }),
        case(timers, "a short window", |timers| in_window(timers, SOON)),
        case(timers, "one of two is called off", one_of_two),
    ];
    // Only virtual time shows when timers were armed.
    if world::name() == "sim" {
        cases.push(case(timers, "many of one window", many));
        cases.push(case(timers, "windows without end", without_end));
    }
    cases
}

/// The callback was told a moment in its window, and was called no earlier. Where time stands still while any thread
/// can run, it was called at that moment.
fn judge(deadline: Deadline, window: Duration, called: Called) {
    let due = called.fired.due;
    let last = Deadline::after(deadline.as_nanos(), window);
    holds!(
        due >= deadline && called.at >= due.as_nanos(),
        "T7: a timer came before its window"
    );
    holds!(due <= last, "T7: a timer was put off beyond its window");
    holds!(
        world::name() != "sim" || called.at <= due.as_nanos() + LATE,
        "T7: a timer came later than it was told"
    );
}

fn in_window(timers: Timers, window: Duration) {
    let service = timers.start();
    let deadline = after(SOON);
    let note = Note::new();
    service.schedule_within(deadline, window, note.callback());
    judge(deadline, window, note.wait());
}

/// Cancelling one of two timers does not affect the other.
fn one_of_two(timers: Timers) {
    let service = timers.start();
    let deadline = after(SOON);
    let notes = [(); 2].map(|()| Note::new());
    let handles =
        [0, 1].map(|timer| service.schedule_within(deadline, SOON, notes[timer].callback()));
    let [first, second] = &notes;
    let cancelled = service.cancel(&handles[0]);
    if !cancelled {
        judge(deadline, SOON, first.wait());
    }
    judge(deadline, SOON, second.wait());
    drop(service);
    holds!(
        !cancelled || first.called().is_none(),
        "T7: called, and called off nevertheless"
    );
}

/// A hundred deadlines spread over one window, each with a window of that length. Their windows end within two
/// windows, and each timer has to leave at most half of its window unused.
fn many(timers: Timers) {
    const TIMERS: u32 = 100;
    const MOMENTS: usize = 5;
    let window = 1_000 * SOON;
    let service = timers.start();
    let armed: Vec<(Deadline, Note)> = (0..TIMERS)
        .map(|timer| {
            let deadline = after(SOON + window / TIMERS * timer);
            let note = Note::new();
            service.schedule_within(deadline, window, note.callback());
            (deadline, note)
        })
        .collect();
    let mut moments = BTreeSet::new();
    for (deadline, note) in armed {
        let called = note.wait();
        judge(deadline, window, called);
        moments.insert(called.fired.due);
    }
    let count = moments.len();
    holds!(
        count <= MOMENTS,
        "T7: {TIMERS} timers of one window came at {count} moments"
    );
}

/// The longest window works like any other.
fn without_end(timers: Timers) {
    let service = timers.start();
    let note = Note::new();
    let deadline = after(SOON);
    let handle = service.schedule_within(deadline, Duration::MAX, note.callback());
    let never = service.schedule_within(Deadline::NEVER, Duration::MAX, |_| {});
    holds!(
        service.cancel(&never),
        "T7: one that never comes was not armed"
    );
    if !service.cancel(&handle) {
        judge(deadline, Duration::MAX, note.wait());
    }
}
