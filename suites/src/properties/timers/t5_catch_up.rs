//! T5: after a stall all that was due fires; in the order of deadlines where that is claimed.

use std::sync::{Arc, Mutex};

use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::Timers;

use super::super::{Case, Property, Reliance};
use super::form::{Gate, Note, SOON, after};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "t5-catch-up",
    statement: "After a stall everything that was due fires, where claimed in the order of deadlines.",
    relied_on_by: Reliance::Nobody,
};

/// `ordered`: whether the order of deadlines is claimed.
pub(super) fn cases<T: Timers, W: World>(ordered: bool) -> Vec<Case> {
    vec![Case::new("behind a slow callback", move || {
        behind_a_stall::<T, W>(ordered)
    })]
}

fn behind_a_stall<T: Timers, W: World>(ordered: bool) {
    let service = T::start();
    let [stalled, gate] = [(); 2].map(|()| Gate::<W>::new());
    let stall = after::<W>(SOON);
    {
        let (stalled, gate) = (stalled.clone(), gate.clone());
        service.schedule(stall, move |_| {
            stalled.open();
            gate.pass();
        });
    }
    stalled.pass();
    // The clock has come to `stall`: all of these are due already.
    let order = Arc::new(Mutex::new(Vec::new()));
    let dues = [30, 10, 20].map(|before| stall.as_nanos() - before);
    let notes = dues.map(|due| {
        let note = Note::<W>::new();
        let (callback, order) = (note.callback(), order.clone());
        service.schedule(Deadline::from_nanos(due), move |fired| {
            order.lock().expect("nobody panics with the lock").push(due);
            callback(fired);
        });
        note
    });
    gate.open();
    for note in &notes {
        note.wait();
    }
    let order = order.lock().expect("nobody panics with the lock").clone();
    if ordered {
        assert!(
            order.is_sorted(),
            "T5: due together, and fired out of order: {order:?}"
        );
    }
}
