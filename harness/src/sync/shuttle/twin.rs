//! What this world lends to a twin: a published crate, with its sources unchanged, over a crate that takes the place of
//! `std` (`impls/twins`).
//!
//! The locks and threads of that crate wait as the facade does. So virtual time passes for them, a deadlock is
//! reported with the crate's own lines, and a picture of an execution shows its steps.

use ::shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use ::std::cell::Cell;
use ::std::panic::Location;
use ::std::sync::Arc;

use super::super::explored::census::{self, SPINS};
use super::super::explored::exploration;
use super::super::explored::mischief::Mischief;
use super::super::explored::seat::{Rouse, Seat};
use super::super::explored::thread;
use super::super::explored::{Engine, Word};
use super::super::sites::Kind;
use super::super::{Deadline, trace};
use super::{IN_TURNS, Shuttle, access, cost};

pub use super::super::cost::allocations::{Part, apart};

/// One wait of one thread. Another thread ends it, or a deadline does.
pub struct Wait {
    seat: Arc<Seat<Shuttle>>,
    gate: Arc<<Shuttle as Engine>::Word>,
}

impl Wait {
    /// A wait of the calling thread, which has not begun to wait. No scheduling point.
    pub fn here() -> Wait {
        Wait {
            seat: Seat::take(),
            gate: Arc::new(Word::new(0)),
        }
    }

    /// Waits until [`Wait::end`] is called, or was, or the deadline has come. `what` is the word for the place in
    /// reports. No scheduling point before the thread blocks.
    #[track_caller]
    pub fn sit(&self, what: &'static str, deadline: Deadline) {
        self.seat
            .sit(what, Location::caller(), deadline, &self.gate);
    }

    /// Ends the wait; whether this call was the one that did.
    pub fn end(&self) -> bool {
        self.seat.rouse()
    }
}

impl ::std::fmt::Debug for Wait {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.debug_struct("Wait").finish_non_exhaustive()
    }
}

/// Starts a thread. The execution ends when the model's own threads have ended, as a process does.
#[track_caller]
pub fn spawn(body: impl FnOnce() + Send + 'static) {
    thread::spawn_guest::<Shuttle>(body);
}

/// The calling thread's next step is an access of that kind to the object at that address, made by that line.
#[inline]
pub fn announce(object: usize, kind: Kind, at: &'static Location<'static>) {
    access::announce(object, kind, at);
}

/// Records a step of the calling thread, at the line of the caller.
#[inline]
#[track_caller]
pub fn step(what: &'static str) {
    trace::step(|| what.to_owned(), Some(Location::caller()));
}

/// The calling thread has ended so many waits of others, as a condition variable or an unpark does.
pub fn woke(waits: u64) {
    cost::woke(waits);
}

/// Whether this execution is one whose cost is counted.
pub fn is_counted() -> bool {
    cost::counts()
}

/// Whether threads take turns here, as in the world `sim`: two that retry in step would do so for ever.
pub fn takes_turns() -> bool {
    IN_TURNS.get()
}

/// Counts a yield; whether threads have yielded so often, without a wait in between, that another yield will not help.
pub fn has_spun_out() -> bool {
    census::try_with(|census| {
        census.spun += 1;
        census.spun >= SPINS
    })
    .unwrap_or(false)
}

/// Whether the calling thread's wait is to end for no reason here.
pub fn wakes_spuriously() -> bool {
    Shuttle::misbehaves(Mischief::SpuriousWakeUp, 1) > 0
}

/// Whether the calling thread's weak exchange is to fail for no reason here.
pub fn fails_spuriously() -> bool {
    Shuttle::misbehaves(Mischief::WeakFailure, 1) > 0
}

/// Which waiter a notification reaches, of those that wait beside the first: 0 is the first.
pub fn notified(others: usize) -> usize {
    Shuttle::misbehaves(Mischief::AnotherWaiter, others)
}

/// Has `hook` called on the exploring thread of the system: before each execution that begins from now on in this
/// process, and after the last one of an exploration.
///
/// # Panics
/// When there is another hook.
pub fn between_executions(hook: fn()) {
    exploration::between(hook);
}

::std::thread_local! {
    /// Whether only guests are left of this execution.
    static OVER: Cell<bool> = const { Cell::new(false) };
}

/// Ends the execution if only guests are left in it. Their stacks are abandoned, as those of threads are when a process
/// ends: destructors would meet what is gone.
pub(super) fn end_if_only_guests() {
    let over = census::try_with(|census| census.has_only_guests()).unwrap_or(false);
    if over && !::std::thread::panicking() {
        OVER.set(true);
        ::shuttle::thread::yield_now();
    }
}

/// A scheduler that stops where [`end_if_only_guests`] says so, and that knows which announced accesses have been made.
pub(super) struct Ending(pub(super) Box<dyn Scheduler>);

impl Scheduler for Ending {
    fn new_execution(&mut self) -> Option<Schedule> {
        OVER.set(false);
        access::clear();
        self.0.new_execution()
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        if OVER.get() {
            return None;
        }
        cost::switches();
        let next = self.0.next_task(runnable, current, is_yielding)?;
        access::made(next);
        Some(next)
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}
