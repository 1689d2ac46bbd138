//! T6: a slow or panicking callback never stops the timer.

use std::any::Any;
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use flowmeter_harness::channel::Async;
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::{Sleep, Timeouts, Timers};

use super::super::{Case, Property, Reliance};
use super::form::{Gate, LATE, Note, SOON, after};

pub(in crate::properties) const PROPERTY: Property = Property {
    name: "t6-callbacks",
    statement: "Callbacks may be slow, panic, or use their timer, and the others fire; where claimed, as soon as a slow one has ended.",
    relied_on_by: Reliance::Nobody,
};

/// `isolated`: whether a slow one delays others until it has ended, and no longer.
pub(super) fn cases<T: Timers, W: World>(isolated: bool) -> Vec<Case> {
    let mut cases = vec![
        Case::new("a slow callback", slow::<T, W>),
        Case::new("a callback uses its timer", nested::<T, W>),
    ];
    // Elsewhere nobody can say how long it took.
    if isolated && W::name() == "sim" {
        cases.push(Case::new(
            "a slow callback delays until it has ended",
            until_it_has_ended::<T, W>,
        ));
    }
    // Panics are the checkers' own language in the other worlds.
    if W::name() == "std" {
        cases.extend([
            Case::new("a panicking callback", || {
                panicking::<T, W>(|| Box::new("a callback's own fault"));
            }),
            Case::new("a panic that panics when dropped", || {
                panicking::<T, W>(|| Box::new(DropPanics));
            }),
        ]);
    }
    cases
}

/// `panic_safe`: whether what a waker panics with goes no further.
pub(super) fn sleep_cases<S: Sleep, W: World>(panic_safe: bool) -> Vec<Case> {
    if W::name() != "std" || !panic_safe {
        return Vec::new();
    }
    vec![
        Case::new("a panicking waker of a sleep", || {
            let service = S::start();
            let sleep = service.sleep_until(after::<W>(SOON));
            panicking_waker::<W>(sleep);
            W::block_on(service.sleep_until(after::<W>(SOON)));
        }),
        Case::new(
            "a panicking waker among others of its moment",
            among_others::<S, W>,
        ),
    ]
}

/// Those that are due with one whose waker panics are woken all the same.
fn among_others<S: Sleep, W: World>() {
    let service = S::start();
    let asleep = |delay| {
        let moment = after::<W>(delay);
        let sleepers = [false, false, true, false, false].map(|panics| {
            let task = Task::new(panics);
            let mut sleep = Box::pin(service.sleep_until(moment));
            let is_asleep = poll(sleep.as_mut(), &task).is_pending();
            (is_asleep, task, sleep)
        });
        let all = sleepers.iter().all(|(is_asleep, ..)| *is_asleep);
        all.then_some(sleepers)
    };
    // What was held up until the moment had passed is done again.
    let sleepers = (0..20)
        .map(|doublings| SOON * (1 << doublings))
        .find_map(asleep);
    let sleepers = sleepers.expect("five are asleep in less than a minute");
    let end = W::now_nanos().saturating_add(PATIENCE);
    for (_, task, _sleep) in &sleepers {
        while !task.is_woken() && W::now_nanos() < end {
            W::yield_now();
        }
        holds!(
            task.is_woken(),
            "T6: one that was due with a panicking waker was not woken"
        );
    }
}

/// As [`sleep_cases`].
pub(super) fn timeout_cases<S: Timeouts<C>, C: Async, W: World>(panic_safe: bool) -> Vec<Case> {
    if W::name() != "std" || !panic_safe {
        return Vec::new();
    }
    vec![Case::new("a panicking waker of a timeout", || {
        let service = S::start();
        let mut first = service.timeout::<u32>(SOON);
        panicking_waker::<W>(C::take_async(&mut first));
        let mut second = service.timeout::<u32>(SOON);
        let answer = W::block_on(C::take_async(&mut second));
        holds!(answer.is_err(), "T1: a timeout is a channel without values");
    })]
}

/// What is woken.
struct Task {
    is_woken: AtomicBool,
    /// Whether who wakes it gets a panic.
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
            // Past the hook, which would print it.
            resume_unwind(Box::new("a waker's own fault"));
        }
    }
}

fn poll<F: Future>(future: Pin<&mut F>, task: &Arc<Task>) -> Poll<F::Output> {
    let waker = Waker::from(task.clone());
    future.poll(&mut Context::from_waker(&waker))
}

/// Polls with a waker that panics, and waits until it was woken, unless it was ready at once.
fn panicking_waker<W: World>(future: impl Future) {
    let task = Task::new(true);
    let future = pin!(future);
    if poll(future, &task).is_pending() {
        while !task.is_woken() {
            W::yield_now();
        }
    }
}

fn slow<T: Timers, W: World>() {
    let service = T::start();
    let [running, gate] = [(); 2].map(|()| Gate::<W>::new());
    {
        let (running, gate) = (running.clone(), gate.clone());
        service.schedule(after::<W>(SOON), move |_| {
            running.open();
            gate.pass();
        });
    }
    running.pass();
    let deadline = after::<W>(SOON);
    let note = Note::<W>::new();
    service.schedule(deadline, note.callback());
    gate.open();
    holds!(
        note.wait().at >= deadline.as_nanos(),
        "T6: fired early after a slow callback"
    );
}

/// One of the others is due while it runs, one after it has ended.
fn until_it_has_ended<T: Timers, W: World>() {
    const LENGTH: Duration = Duration::from_millis(20);
    let [service, elsewhere] = [(); 2].map(|()| T::start());
    let begin = W::now_nanos();
    let (gate, end) = (Gate::<W>::new(), Note::<W>::new());
    {
        let (gate, ends) = (gate.clone(), end.callback());
        service.schedule(after::<W>(SOON), move |fired| {
            gate.pass();
            ends(fired);
        });
    }
    elsewhere.schedule(after::<W>(LENGTH), move |_| gate.open());
    let others = [LENGTH / 2, LENGTH * 3 / 2].map(|delay| {
        let (deadline, note) = (after::<W>(delay), Note::<W>::new());
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

fn nested<T: Timers, W: World>() {
    let service = Arc::new(T::start());
    let note = Note::<W>::new();
    let (inner, callback) = (service.clone(), note.callback());
    service.schedule(after::<W>(SOON), move |_| {
        inner.schedule(after::<W>(SOON), callback);
    });
    note.wait();
}

struct DropPanics;

impl Drop for DropPanics {
    fn drop(&mut self) {
        resume_unwind(Box::new("a drop's own fault"));
    }
}

/// How long to wait for a timer, in nanoseconds: only a failure takes as long.
const PATIENCE: u64 = 5_000_000_000;

fn panicking<T: Timers, W: World>(payload: fn() -> Box<dyn Any + Send>) {
    let service = T::start();
    let first = Note::<W>::new();
    let callback = first.callback();
    service.schedule(after::<W>(SOON), move |fired| {
        callback(fired);
        // Past the hook, which would print it.
        resume_unwind(payload());
    });
    first.wait();
    let second = Note::<W>::new();
    service.schedule(after::<W>(SOON), second.callback());
    // Real time only, where a wait for what never comes is a hang and no answer.
    let end = W::now_nanos().saturating_add(PATIENCE);
    while second.called().is_none() && W::now_nanos() < end {
        W::yield_now();
    }
    holds!(
        second.called().is_some(),
        "T6: a panicking callback stopped the timer"
    );
}
