//! T6: a slow or panicking callback never stops the timer.
//!
//! The smallest history that violates it:
//!
//! ```text
//! thread                  timer thread
//! arms 1 for 50 µs
//!                         calls 1, which panics
//!                         ends with the panic
//! arms 2 for 100 µs
//! waits for 2 for ever
//! ```

use std::any::Any;
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::sync::{Deadline, world};

use super::super::{Case, Cases, Property, Reliance};
use super::form::{Gate, LATE, Note, SOON, after, case, is_closed};
use crate::design::timers::{Design, Timers, Way};
use crate::patience::{end, until};

pub(crate) const PROPERTY: Property = Property {
    name: "t6-callbacks",
    statement: "Callbacks may be slow, panic, or use their timer, and the others fire; where claimed, as soon as a slow one has ended.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Timers(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let mut cases = Vec::new();
    // In the other worlds the checkers use panics themselves.
    let real = world::name() == "std";
    if let Some(timers) = design.by(Way::Call) {
        cases.push(case(timers, "a slow callback", slow));
        cases.push(case(timers, "a callback uses its timer", nested));
        // Only virtual time shows how long it took.
        if design.claims(Claim::IsolatedCallbacks) && world::name() == "sim" {
            let name = "a slow callback delays until it has ended";
            cases.push(case(timers, name, until_it_has_ended));
        }
        if real {
            cases.extend([
                case(timers, "a panicking callback", |timers| {
                    panicking(timers, || Box::new("a callback's own fault"));
                }),
                case(timers, "a panic that panics when dropped", |timers| {
                    panicking(timers, || Box::new(DropPanics));
                }),
            ]);
        }
    }
    // Only where a waker's panic is contained.
    if !real || !design.claims(Claim::PanicSafe) {
        return cases;
    }
    if let Some(timers) = design.by(Way::Future) {
        let name = "a panicking waker of a sleep";
        cases.push(case(timers, name, panicking_sleeper));
        let name = "a panicking waker among others of its moment";
        cases.push(case(timers, name, among_others));
    }
    if let Some(timers) = design.by(Way::Channel) {
        let name = "a panicking waker of a timeout";
        cases.push(case(timers, name, panicking_taker));
    }
    cases
}

fn panicking_sleeper(timers: Timers) {
    let service = timers.start();
    panicking_waker(service.sleep(after(SOON)));
    world::block_on(service.sleep(after(SOON)));
}

fn panicking_taker(timers: Timers) {
    let service = timers.start();
    let mut first = service.timeout::<u32>(SOON);
    panicking_waker(first.take_async());
    let mut second = service.timeout(SOON);
    is_closed(world::block_on(second.take_async()));
}

/// The sleepers that are due together with a panicking waker are woken all the same.
fn among_others(timers: Timers) {
    let service = timers.start();
    let asleep = |delay| {
        let moment = after(delay);
        let sleepers = [false, false, true, false, false].map(|panics| {
            let task = Task::new(panics);
            let mut sleep = service.sleep(moment);
            let is_asleep = poll(sleep.as_mut(), &task).is_pending();
            (is_asleep, task, sleep)
        });
        let all = sleepers.iter().all(|(is_asleep, ..)| *is_asleep);
        all.then_some(sleepers)
    };
    // Where the thread was delayed until the moment had passed, the case is tried again with a longer delay.
    let sleepers = (0..20)
        .map(|doublings| SOON * (1 << doublings))
        .find_map(asleep);
    let sleepers = sleepers.expect("five are asleep in less than a minute");
    let end = end();
    for (_, task, _sleep) in &sleepers {
        holds!(
            until(end, || task.is_woken().then_some(())).is_some(),
            "T6: one that was due with a panicking waker was not woken"
        );
    }
}

/// A waker that records its wake-up.
struct Task {
    is_woken: AtomicBool,
    /// Whether waking it panics.
    panics: bool,
}

impl Task {
    fn new(panics: bool) -> Arc<Self> {
        Arc::new(Task {
            is_woken: AtomicBool::new(false),
            panics,
        })
    }

    fn is_woken(&self) -> bool {
        self.is_woken.load(Ordering::SeqCst)
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        if self.panics {
            // `resume_unwind` skips the panic hook, which would print it.
            resume_unwind(Box::new("a waker's own fault"));
        }
    }
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>, task: &Arc<Task>) -> Poll<F::Output> {
    let waker = Waker::from(task.clone());
    future.poll(&mut Context::from_waker(&waker))
}

/// Polls with a waker that panics. Unless the future was ready at once, waits until the waker is woken.
fn panicking_waker(future: impl Future) {
    let task = Task::new(true);
    let future = pin!(future);
    if poll(future, &task).is_pending() {
        while !task.is_woken() {
            world::yield_now();
        }
    }
}

fn slow(timers: Timers) {
    let service = timers.start();
    let [running, gate] = [(); 2].map(|()| Gate::new());
    {
        let (running, gate) = (running.clone(), gate.clone());
        service.schedule(after(SOON), move |_| {
            running.open();
            gate.pass();
        });
    }
    running.pass();
    let deadline = after(SOON);
    let note = Note::new();
    service.schedule(deadline, note.callback());
    gate.open();
    holds!(
        note.wait().at >= deadline.as_nanos(),
        "T6: fired early after a slow callback"
    );
}

/// One of the other timers is due while the slow callback runs, one after it has ended.
fn until_it_has_ended(timers: Timers) {
    const LENGTH: Duration = Duration::from_millis(20);
    let [service, elsewhere] = [timers; 2].map(Timers::start);
    let begin = world::now_nanos();
    let (gate, end) = (Gate::new(), Note::new());
    {
        let (gate, ends) = (gate.clone(), end.callback());
        service.schedule(after(SOON), move |fired| {
            gate.pass();
            ends(fired);
        });
    }
    elsewhere.schedule(after(LENGTH), move |_| gate.open());
    let others = [LENGTH / 2, LENGTH * 3 / 2].map(|delay| {
        let (deadline, note) = (after(delay), Note::new());
        service.schedule(deadline, note.callback());
        (deadline, note)
    });
    let end = end.wait().at;
    holds!(
        end >= Deadline::after(begin, LENGTH).as_nanos(),
        "T1: a callback that was to be slow ended early"
    );
    for (deadline, note) in others {
        let last = deadline.as_nanos().max(end) + LATE;
        holds!(
            note.wait().at <= last,
            "T6: a slow callback delayed another after it had ended"
        );
    }
}

fn nested(timers: Timers) {
    let service = timers.start();
    let note = Note::new();
    let (inner, callback) = (service.clone(), note.callback());
    service.schedule(after(SOON), move |_| {
        inner.schedule(after(SOON), callback);
    });
    note.wait();
}

struct DropPanics;

impl Drop for DropPanics {
    fn drop(&mut self) {
        resume_unwind(Box::new("a drop's own fault"));
    }
}

fn panicking(timers: Timers, payload: fn() -> Box<dyn Any + Send>) {
    let service = timers.start();
    let first = Note::new();
    let callback = first.callback();
    service.schedule(after(SOON), move |fired| {
        callback(fired);
        // `resume_unwind` skips the panic hook, which would print it.
        resume_unwind(payload());
    });
    first.wait();
    let second = Note::new();
    service.schedule(after(SOON), second.callback());
    holds!(
        until(end(), || second.called()).is_some(),
        "T6: a panicking callback stopped the timer"
    );
}
