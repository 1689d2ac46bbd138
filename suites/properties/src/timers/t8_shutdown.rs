//! T8: a dropped timer calls no callback any more, answers its waiters, and leaves no thread.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! thread                       timer thread
//! arms 1 for never
//! drop(timer) returns
//!                              calls 1, or never drops its callback
//!
//! timeout(1 h).take waits
//! drop(timer) returns
//! the take waits for an hour
//! ```

use std::panic::resume_unwind;
use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Polled, TakeError};
use flowmeter_harness::sync::{Deadline, world};

use super::super::{Case, Cases, Property, Reliance};
use super::form::{Armed, Gate, Note, SOON, after, case};
use crate::acts;
use crate::design::timers::{Design, Timers, Way};

pub(crate) const PROPERTY: Property = Property {
    name: "t8-shutdown",
    statement: "Dropping a timer drops armed callbacks without calling them, answers sleeps and timeouts, and ends its thread.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Timers(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let mut cases = Vec::new();
    if let Some(timers) = design.by(Way::Call) {
        cases.extend([
            case(timers, "idle", |timers| drop(timers.start())),
            case(timers, "with armed callbacks", armed),
            case(timers, "at the edge", edge::<1>),
            case(timers, "at the edge of several", edge::<3>),
            case(timers, "on its own thread", on_its_own_thread),
            case(timers, "while a callback waits for another", awaited),
        ]);
        // In the other worlds the checkers use panics themselves.
        if world::name() == "std" {
            let name = "with callbacks whose drops panic";
            cases.push(case(timers, name, panicking_drops));
        }
        if timers.cancels() {
            let name = "at the edge of one that was called off";
            cases.push(case(timers, name, edge_of_one_called_off));
        }
    }
    let answering = design.by(Way::Future);
    if let Some(timers) = answering.filter(|_| design.claims(Claim::AnswersSleepers)) {
        cases.push(case(timers, "with a sleeping future", sleeping));
        let name = "with a future that is polled first as it ends";
        cases.push(case(timers, name, polled_at_the_end));
    }
    if let Some(timers) = design.by(Way::Channel) {
        cases.push(case(timers, "with a waiting take", taking));
        cases.push(case(timers, "with timeouts that never come", never));
    }
    cases
}

fn armed(timers: Timers) {
    let service = timers.start();
    let notes = [(); 2].map(|()| Note::new());
    service.schedule(Deadline::NEVER, notes[0].callback());
    service.schedule(Deadline::from_nanos(u64::MAX - 1), notes[1].callback());
    drop(service);
    for note in &notes {
        holds!(
            note.is_dropped(),
            "T8: an armed callback outlived its timer"
        );
    }
    holds!(notes[0].called().is_none(), "T8: called by a shutdown");
}

/// Once the drop has returned nothing is called any more: the timer thread has ended.
fn edge<const TIMERS: usize>(timers: Timers) {
    let service = timers.start();
    let notes = [(); TIMERS].map(|()| Note::new());
    let deadline = after(SOON);
    for note in &notes {
        service.schedule(deadline, note.callback());
    }
    if world::name() == "std" {
        // Real time does not reach the edge by itself.
        while world::now_nanos() < deadline.as_nanos() {
            world::yield_now();
        }
    }
    drop(service);
    for note in &notes {
        holds!(
            note.is_dropped(),
            "T8: a callback outlived its timer: its thread goes on"
        );
    }
}

/// The timer thread may still wake for the cancelled timer. It then finds timers that are due shortly after.
fn edge_of_one_called_off(timers: Timers) {
    let service = timers.start();
    let soon = after(SOON);
    let called_off = service.schedule(soon, |_| {});
    let notes = [(); 3].map(|()| Note::new());
    for (behind, note) in (1..).zip(&notes) {
        let deadline = Deadline::from_nanos(soon.as_nanos() + 500 * behind);
        service.schedule(deadline, note.callback());
    }
    service.cancel(&called_off);
    drop(service);
    for note in &notes {
        holds!(
            note.is_dropped(),
            "T8: a callback outlived its timer: its thread goes on"
        );
    }
}

fn on_its_own_thread(timers: Timers) {
    let service = timers.start();
    let note = Note::new();
    let (held, callback) = (service.clone(), note.callback());
    service.schedule(after(SOON), move |fired| {
        drop(held);
        callback(fired);
    });
    drop(service);
    note.wait();
}

/// Armed callbacks are dropped before the drop joins the timer thread, which may run a callback that waits for that
/// drop.
fn awaited(timers: Timers) {
    let service = timers.start();
    let [waiting, armed] = [(); 2].map(|()| Note::new());
    let running = Gate::new();
    service.schedule(Deadline::NEVER, armed.callback());
    {
        let (running, callback) = (running.clone(), waiting.callback());
        service.schedule(after(SOON), move |fired| {
            running.open();
            holds!(armed.wait_for_end().is_none(), "T8: called by a shutdown");
            callback(fired);
        });
    }
    running.pass();
    drop(service);
    holds!(
        waiting.called().is_some(),
        "T8: a callback outlived its timer"
    );
}

struct DropPanics;

impl Drop for DropPanics {
    fn drop(&mut self) {
        // `resume_unwind` skips the panic hook, which would print it.
        resume_unwind(Box::new("a drop's own fault"));
    }
}

fn panicking_drops(timers: Timers) {
    let service = timers.start();
    let notes = [(); 3].map(|()| Note::new());
    for note in &notes {
        let (callback, panics) = (note.callback(), DropPanics);
        service.schedule(Deadline::NEVER, move |fired| {
            let _panics = panics;
            callback(fired);
        });
    }
    drop(service);
    for note in &notes {
        holds!(
            note.is_dropped(),
            "T8: an armed callback outlived its timer"
        );
    }
}

fn sleeping(timers: Timers) {
    let service = timers.start();
    // Late enough to be still pending. A service that is shared with others goes on, and ends the sleep in time too.
    let sleep = Armed::at(after(SOON * 20), &service);
    drop(service);
    sleep.wait();
}

/// Whether the sleep is armed before the end, during it or after, it is answered.
fn polled_at_the_end(timers: Timers) {
    for _ in 0..acts::turns() {
        let service = timers.start();
        let sleep = service.sleep(after(SOON * 20));
        let sleeps = world::spawn(move || {
            world::perturb();
            world::block_on(sleep);
        });
        world::perturb();
        drop(service);
        // A sleep that is not answered is a deadlock here.
        world::join(sleeps);
    }
}

fn taking(timers: Timers) {
    let service = timers.start();
    let mut rx = service.timeout::<u32>(Duration::from_secs(3_600));
    let taker = world::spawn(move || rx.take());
    drop(service);
    holds_eq!(
        world::join(taker),
        Err(TakeError::Closed),
        "T8: a shutdown leaves a taker without its answer"
    );
}

fn never(timers: Timers) {
    let service = timers.start();
    let mut rx = service.timeout::<u32>(Duration::MAX);
    drop(service);
    holds_eq!(
        rx.poll(),
        Polled::Closed,
        "T8: a shutdown leaves a timeout open"
    );
}
