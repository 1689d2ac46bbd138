//! Where the explored world may switch, how a twin waits, and what time it is.
//!
//! Everything that a twin does passes through here: [`point`] before each operation that other threads can see,
//! [`Line`] where threads wait, [`yield_now`] where they spin, [`now`] where they read the clock.

mod line;
mod statics;

use ::std::cell::Cell;
use ::std::sync::Once;

use flowmeter_harness::sync::shuttle::{clock, twin};
use flowmeter_harness::sync::{Deadline, shuttle};
use shuttle_engine::runtime::execution::ExecutionState;
use shuttle_engine::runtime::thread::switch;

pub use line::Line;
pub use statics::about_to_write;

/// What surrounds the calling thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// No execution: the operations of std apply.
    Outside,
    /// A thread of an execution.
    Inside,
    /// An execution that ends: destructors run, and nothing is scheduled.
    Ending,
}

/// What surrounds the calling thread.
pub fn place() -> Place {
    let place = ExecutionState::try_with(|state| match (state.try_current(), state.in_cleanup()) {
        (Some(_), false) => Place::Inside,
        (Some(_), true) => Place::Ending,
        (None, _) => Place::Outside,
    });
    place.unwrap_or(Place::Outside)
}

/// The task that runs, as a number that no other task of this execution has.
pub fn task() -> Option<usize> {
    ExecutionState::try_with(|state| state.try_current().map(|task| task.id().into()))
        .ok()
        .flatten()
}

/// A scheduling point before an operation. `what` names the operation in the picture of an execution.
///
/// There is none while a panic unwinds: tasks share one panic count, so that another task would take the panic for its
/// own.
#[inline]
#[track_caller]
pub fn point(what: &'static str) {
    if place() == Place::Inside && !::std::thread::panicking() {
        switch();
        twin::step(what);
    }
}

::std::thread_local! {
    /// How many steps the execution had when a thread last yielded in a spin loop.
    static SPUN_AT: Cell<usize> = const { Cell::new(usize::MAX) };
    /// The last moment in the future that a task compared the clock with: nanoseconds, and the task.
    static AWAITED: Cell<(u64, usize)> = const { Cell::new((0, usize::MAX)) };
}

/// Clears what is left of the execution before, and puts statics back.
fn begin() {
    SPUN_AT.set(usize::MAX);
    AWAITED.set((0, usize::MAX));
    statics::put_back();
}

/// Has the next execution begin as this one did.
fn clear_later() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| twin::before_executions(begin));
}

/// One turn of a spin loop. It yields unless no other thread has run since the last one.
#[inline]
#[track_caller]
pub fn spin_loop() {
    if place() != Place::Inside {
        return ::core::hint::spin_loop();
    }
    clear_later();
    if SPUN_AT.get() != ExecutionState::context_switches() {
        yield_now();
        SPUN_AT.set(ExecutionState::context_switches());
    }
}

/// Lets other threads run.
///
/// A thread that yields again and again waits in truth: for the moment that it compared the clock with, or for longer
/// and longer times. So time passes for it too, and a loop that waits for ever is reported as a deadlock.
#[track_caller]
pub fn yield_now() {
    match place() {
        Place::Outside => ::std::thread::yield_now(),
        Place::Ending => {}
        Place::Inside if twin::has_spun_out() && !::std::thread::panicking() => {
            twin::Wait::here().sit("a spin loop", spun_until());
        }
        Place::Inside => {
            // shuttle's own `yield_now` wakes the calling task as well, which costs a poll for nothing.
            ExecutionState::request_yield();
            switch();
        }
    }
}

fn spun_until() -> Deadline {
    let now = clock::now_nanos();
    let (awaited, by) = AWAITED.get();
    if awaited > now && task() == Some(by) {
        return Deadline::from_nanos(awaited);
    }
    Deadline::from_nanos(now.saturating_add(now.max(1_000)))
}

/// Nanoseconds since the execution began; outside, since the process first asked.
#[track_caller]
pub fn now() -> u64 {
    if place() != Place::Outside {
        return clock::now_nanos();
    }
    static BEGAN: ::std::sync::OnceLock<::std::time::Instant> = ::std::sync::OnceLock::new();
    let began = BEGAN.get_or_init(::std::time::Instant::now);
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Whether that moment has come.
#[track_caller]
pub fn has_come(deadline: Deadline) -> bool {
    deadline != Deadline::NEVER && now() >= deadline.as_nanos()
}

/// The calling thread has compared the clock with that moment.
pub fn compared_with(nanos: u64) {
    if let Some(task) = task() {
        AWAITED.set((nanos, task));
    }
}

/// Waits for that long.
#[track_caller]
pub fn sleep(time: ::std::time::Duration) {
    match place() {
        Place::Outside => ::std::thread::sleep(time),
        Place::Ending => {}
        Place::Inside if time.is_zero() => yield_now(),
        Place::Inside => twin::Wait::here().sit("sleep", clock::after(time)),
    }
}

/// A random number, part of the schedule.
pub fn random() -> u64 {
    match place() {
        Place::Inside => shuttle::random_u64(),
        Place::Outside | Place::Ending => 0,
    }
}

/// Whether a weak exchange is to fail here though it could succeed.
#[inline]
pub fn fails_spuriously() -> bool {
    place() == Place::Inside && twin::fails_spuriously()
}
