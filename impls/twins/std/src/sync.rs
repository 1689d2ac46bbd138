//! As `std::sync`, with locks of the explored world. Channels and barriers have no name here: std's would block.

mod condvar;
mod mutex;
mod once;
mod rwlock;

pub use ::std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};
pub use flowmeter_core::sync::atomic;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use once::{LazyLock, Once, OnceLock, OnceState};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use ::std::sync::atomic::{AtomicBool, Ordering};
use ::std::thread::panicking;

use flowmeter_core::engine::{Line, Place, place};
use flowmeter_harness::sync::Deadline;

/// Whether a thread panicked while it held a lock.
#[derive(Debug)]
struct Poison(AtomicBool);

impl Poison {
    const fn new() -> Poison {
        Poison(AtomicBool::new(false))
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// A guard that was taken while its thread did not panic is dropped.
    fn left(&self, was_panicking: bool) {
        // What unwinds at the end of an execution is no panic.
        if !was_panicking && panicking() && place() == Place::Inside {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn told<G>(&self, guard: G) -> LockResult<G> {
        if self.is_set() {
            Err(PoisonError::new(guard))
        } else {
            Ok(guard)
        }
    }
}

/// Waits in the line until `taken` answers true. When an execution ends its locks do not matter any more.
#[track_caller]
fn take(line: &Line, what: &'static str, taken: impl Fn() -> bool) {
    while !taken() {
        if line.wait(what, Deadline::NEVER, || ()) {
            continue;
        }
        match place() {
            Place::Ending => return,
            _ => ::std::thread::yield_now(),
        }
    }
}
