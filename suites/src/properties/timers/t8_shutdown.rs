//! T8: a timer that is dropped calls nobody any more, answers who waits, and leaves no thread.

use std::panic::resume_unwind;
use std::sync::Arc;

use flowmeter_harness::channel::{Blocking, Channels, TakeError};
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::{Cancel, Sleep, Timeouts, Timers};

use super::super::{Case, Property, Reliance};
use super::form::{BySleep, Form, Gate, Note, SOON, after};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "t8-shutdown",
    statement: "Dropping a timer drops armed callbacks uncalled, answers sleeps and timeouts, and ends its thread.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn calling_cases<T: Timers, W: World>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("idle", || drop(T::start())),
        Case::new("with armed callbacks", armed::<T, W>),
        Case::new("at the edge", edge::<T, W, 1>),
        Case::new("at the edge of several", edge::<T, W, 3>),
        Case::new("on its own thread", on_its_own_thread::<T, W>),
        Case::new("while a callback waits for another", awaited::<T, W>),
    ];
    // Panics are the checkers' own language in the other worlds.
    if W::name() == "std" {
        let name = "with callbacks whose drops panic";
        cases.push(Case::new(name, panicking_drops::<T, W>));
    }
    cases
}

pub(super) fn cancelling_cases<T: Cancel, W: World>() -> Vec<Case> {
    vec![Case::new(
        "at the edge of one that was called off",
        edge_of_one_called_off::<T, W>,
    )]
}

pub(super) fn sleep_cases<S: Sleep, W: World>() -> Vec<Case> {
    vec![Case::new("with a sleeping future", sleeping::<S, W>)]
}

pub(super) fn timeout_cases<S: Timeouts<C>, C: Blocking, W: World>() -> Vec<Case> {
    vec![
        Case::new("with a waiting take", taking::<S, C, W>),
        Case::new("with timeouts that never come", never::<S, C>),
    ]
}

fn armed<T: Timers, W: World>() {
    let service = T::start();
    let notes = [(); 2].map(|()| Note::<W>::new());
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

/// When the drop has returned nothing is called any more: the thread that could has ended.
fn edge<T: Timers, W: World, const TIMERS: usize>() {
    let service = T::start();
    let notes = [(); TIMERS].map(|()| Note::<W>::new());
    let deadline = after::<W>(SOON);
    for note in &notes {
        service.schedule(deadline, note.callback());
    }
    if W::name() == "std" {
        // Real time does not come to the edge by itself.
        while W::now_nanos() < deadline.as_nanos() {
            W::yield_now();
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

/// The thread may still wake for one that was called off, and looks in vain through what lies close behind it.
fn edge_of_one_called_off<T: Cancel, W: World>() {
    let service = T::start();
    let soon = after::<W>(SOON);
    let called_off = service.schedule(soon, |_| {});
    let notes = [(); 3].map(|()| Note::<W>::new());
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

fn on_its_own_thread<T: Timers, W: World>() {
    let service = Arc::new(T::start());
    let note = Note::<W>::new();
    let (held, callback) = (service.clone(), note.callback());
    service.schedule(after::<W>(SOON), move |fired| {
        drop(held);
        callback(fired);
    });
    drop(service);
    note.wait();
}

/// What is armed is dropped before the timer's thread is waited for, which may run what waits for that drop.
fn awaited<T: Timers, W: World>() {
    let service = T::start();
    let [waiting, armed] = [(); 2].map(|()| Note::<W>::new());
    let running = Gate::<W>::new();
    service.schedule(Deadline::NEVER, armed.callback());
    {
        let (running, callback) = (running.clone(), waiting.callback());
        service.schedule(after::<W>(SOON), move |fired| {
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
        // Past the hook, which would print it.
        resume_unwind(Box::new("a drop's own fault"));
    }
}

fn panicking_drops<T: Timers, W: World>() {
    let service = T::start();
    let notes = [(); 3].map(|()| Note::<W>::new());
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

fn sleeping<S: Sleep, W: World>() {
    let service = <BySleep<S> as Form<W>>::start();
    // Late enough to be pending still; a handle to another's timer goes on, and ends in time too.
    let sleep = <BySleep<S> as Form<W>>::arm(&service, after::<W>(SOON * 20));
    drop(service);
    <BySleep<S> as Form<W>>::wait(sleep);
}

fn taking<S: Timeouts<C>, C: Blocking, W: World>() {
    let service = S::start();
    let mut rx = service.timeout::<u32>(std::time::Duration::from_secs(3_600));
    let taker = W::spawn(move || C::take(&mut rx));
    drop(service);
    holds_eq!(
        W::join(taker),
        Err(TakeError::Closed),
        "T8: a shutdown leaves a taker without its answer"
    );
}

fn never<S: Timeouts<C>, C: Channels>() {
    let service = S::start();
    let mut rx = service.timeout::<u32>(std::time::Duration::MAX);
    drop(service);
    holds_eq!(
        C::poll(&mut rx),
        flowmeter_harness::channel::Polled::Closed,
        "T8: a shutdown leaves a timeout open"
    );
}
