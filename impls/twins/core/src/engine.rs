//! Where the explored world may switch, how a twin waits, and what time it is.
//!
//! Everything that a twin does passes through here: [`reads`], [`changes`] or [`point`] before each operation that other
//! threads can see, [`Line`] where threads wait, [`yield_now`] where they spin, [`now`] where they read the clock.

mod line;
mod spin;
mod statics;

use ::std::panic::Location;
use ::std::sync::Once;
use ::std::time::Duration;

use flowmeter_harness::sync::shuttle::{clock, twin};
use flowmeter_harness::sync::sites::Kind;
use flowmeter_harness::sync::{Deadline, shuttle};
use shuttle_engine::runtime::execution::ExecutionState;
use shuttle_engine::runtime::thread::switch;

pub use line::Line;
pub use spin::{compared_with, spin_loop, wrote, yield_now};
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
    before(what, || ());
}

/// A scheduling point before a read of an object that threads share.
#[inline]
#[track_caller]
pub fn reads<T: ?Sized>(object: &T, what: &'static str) {
    before_access(object, Kind::Load, what);
}

/// A scheduling point before a write of an object that threads share.
#[inline]
#[track_caller]
pub fn stores<T: ?Sized>(object: &T, what: &'static str) {
    before_access(object, Kind::Store, what);
}

/// A scheduling point before a lock is taken or tried.
#[inline]
#[track_caller]
pub fn locks<T: ?Sized>(object: &T, what: &'static str) {
    before_access(object, Kind::Lock, what);
}

/// As [`locks`] for a thread that has just been scheduled, and needs the point only to be counted.
#[inline]
#[track_caller]
pub fn locks_again<T: ?Sized>(object: &T, what: &'static str) {
    if twin::is_counted() {
        locks(object, what);
    }
}

/// As [`changes`] for a thread that has just been scheduled, and needs the point only to be counted.
#[inline]
#[track_caller]
pub fn changes_again<T: ?Sized>(object: &T, what: &'static str) {
    if twin::is_counted() {
        changes(object, what);
    }
}

/// A scheduling point before an operation that may change an object that threads share.
#[inline]
#[track_caller]
pub fn changes<T: ?Sized>(object: &T, what: &'static str) {
    before_access(object, Kind::ReadModifyWrite, what);
}

#[track_caller]
fn before_access<T: ?Sized>(object: &T, kind: Kind, what: &'static str) {
    let at = Location::caller();
    let object = ::std::ptr::from_ref(object).addr();
    before(what, || twin::announce(object, kind, at));
}

#[track_caller]
fn before(what: &'static str, announce: impl Fn()) {
    if ::std::thread::panicking() || place() != Place::Inside {
        return;
    }
    let _apart = twin::apart();
    if task().is_some_and(spin::has_run_alone) && !twin::is_counted() {
        yield_now();
    } else if !spin::keeps_its_turn() {
        announce();
        switch();
    }
    twin::step(what);
}

/// Clears what is left of the execution before, and puts statics back.
fn begin() {
    spin::clear();
    statics::put_back();
}

/// Has the next execution begin as this one did.
fn clear_later() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| twin::between_executions(begin));
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

/// When a wait of that length ends that begins now.
#[track_caller]
pub fn after(time: Duration) -> Deadline {
    Deadline::after(now(), time)
}

/// Lets the execution end before the calling thread does.
pub fn detach() {
    if place() == Place::Inside {
        ExecutionState::with(|state| state.detach(state.current().id()));
    }
}

/// Waits for that long.
#[track_caller]
pub fn sleep(time: Duration) {
    match place() {
        Place::Outside => ::std::thread::sleep(time),
        Place::Ending => {}
        Place::Inside if time.is_zero() => yield_now(),
        Place::Inside => {
            let _apart = twin::apart();
            twin::Wait::here().sit("sleep", after(time));
        }
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
