//! T5: after a stall all that was due fires; in the order of deadlines where that is claimed.

use std::sync::atomic::{AtomicU32, Ordering};
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
    vec![
        Case::new("behind a slow callback", move || {
            behind_a_stall::<T, W>(ordered)
        }),
        Case::new("beside one that is armed again and again", || {
            beside_an_eager_one::<T, W>()
        }),
    ]
}

/// Holds up the service in a callback until the gate is opened; answers a moment that the clock has come to.
fn stall<T: Timers, W: World>(service: &T, gate: &Gate<W>) -> u64 {
    let stalled = Gate::<W>::new();
    let due = after::<W>(SOON);
    {
        let (stalled, gate) = (stalled.clone(), gate.clone());
        service.schedule(due, move |_| {
            stalled.open();
            gate.pass();
        });
    }
    stalled.pass();
    due.as_nanos()
}

fn behind_a_stall<T: Timers, W: World>(ordered: bool) {
    let service = T::start();
    let gate = Gate::<W>::new();
    let stall = stall(&service, &gate);
    // All of these are due already.
    let order = Arc::new(Mutex::new(Vec::new()));
    let dues = [30, 10, 20].map(|before| stall - before);
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

/// A callback that arms itself anew, in the past: the other, which was due with it, fires before it comes again.
fn beside_an_eager_one<T: Timers, W: World>() {
    let service = Arc::new(T::start());
    let gate = Gate::<W>::new();
    let stall = stall(&*service, &gate);
    let other = Note::<W>::new();
    let eager = Eager {
        service: service.clone(),
        other: other.clone(),
        before: Arc::default(),
    };
    let before = eager.before.clone();
    eager.arm(Deadline::from_nanos(stall - 20), 3);
    service.schedule(Deadline::from_nanos(stall - 10), other.callback());
    gate.open();
    other.wait();
    let before = before.load(Ordering::SeqCst);
    assert!(
        before <= 1,
        "T5: was due, and fired after {before} calls of one that was armed again and again"
    );
}

struct Eager<T, W: World> {
    service: Arc<T>,
    other: Note<W>,
    /// How often it was called before the other.
    before: Arc<AtomicU32>,
}

impl<T: Timers, W: World> Eager<T, W> {
    fn arm(self, due: Deadline, times: u32) {
        let service = self.service.clone();
        service.schedule(due, move |_| {
            if self.other.called().is_none() && times > 0 {
                self.before.fetch_add(1, Ordering::SeqCst);
                self.arm(Deadline::from_nanos(0), times - 1);
            }
        });
    }
}
