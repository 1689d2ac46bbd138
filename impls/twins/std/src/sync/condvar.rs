//! `Condvar`.

use ::std::fmt;
use ::std::time::Duration;

use flowmeter_core::engine::{Line, Place, after, changes, locks_again, now, place};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::shuttle::twin::{wakes_spuriously, woke};

use super::mutex::MutexGuard;
use super::{LockResult, PoisonError};

/// As `std::sync::Condvar`.
#[derive(Default)]
pub struct Condvar {
    line: Line,
    /// Outside of executions: where real threads wait.
    real: Real,
}

/// A condvar of std, with a lock of its own that a waiter takes before it gives up the caller's.
#[derive(Default)]
struct Real {
    lock: ::std::sync::Mutex<()>,
    condvar: ::std::sync::Condvar,
}

impl Real {
    const fn new() -> Real {
        Real {
            lock: ::std::sync::Mutex::new(()),
            condvar: ::std::sync::Condvar::new(),
        }
    }

    /// Waits once; `first` runs when a notification can no longer be missed.
    fn wait(&self, deadline: Deadline, first: impl FnOnce()) {
        let held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        first();
        if deadline == Deadline::NEVER {
            drop(self.condvar.wait(held));
        } else {
            let left = deadline.as_nanos().saturating_sub(now());
            drop(self.condvar.wait_timeout(held, Duration::from_nanos(left)));
        }
    }

    fn notify(&self, notify: impl FnOnce(&::std::sync::Condvar)) {
        if place() == Place::Outside {
            drop(self.lock.lock());
            notify(&self.condvar);
        }
    }
}

/// As `std::sync::WaitTimeoutResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

#[allow(missing_docs, reason = "std documents them")]
impl WaitTimeoutResult {
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

#[allow(missing_docs, reason = "std documents them")]
impl Condvar {
    pub const fn new() -> Condvar {
        Condvar {
            line: Line::new(),
            real: Real::new(),
        }
    }

    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.wait_until(guard, Deadline::NEVER)
    }

    #[track_caller]
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let deadline = after(time);
        let guard = self.wait_until(guard, deadline);
        let late = WaitTimeoutResult(now() >= deadline.as_nanos());
        match guard {
            Ok(guard) => Ok((guard, late)),
            Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), late))),
        }
    }

    #[track_caller]
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let deadline = after(time);
        while condition(&mut guard) {
            let left = deadline.as_nanos().saturating_sub(now());
            if left == 0 {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            guard = self.wait_timeout(guard, Duration::from_nanos(left))?.0;
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    #[track_caller]
    fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        deadline: Deadline,
    ) -> LockResult<MutexGuard<'a, T>> {
        let lock = guard.lock;
        changes(self, "waits");
        match place() {
            Place::Outside => self.real.wait(deadline, || drop(guard)),
            Place::Inside if wakes_spuriously() => drop(guard),
            Place::Inside | Place::Ending => {
                self.line.wait("a condvar", deadline, || drop(guard));
            }
        }
        locks_again(lock, "locks again");
        lock.lock_now()
    }

    #[track_caller]
    pub fn notify_one(&self) {
        changes(self, "notifies one");
        woke(u64::from(self.line.wake_one()));
        self.real.notify(::std::sync::Condvar::notify_one);
    }

    #[track_caller]
    pub fn notify_all(&self) {
        changes(self, "notifies all");
        woke(self.line.wake_all());
        self.real.notify(::std::sync::Condvar::notify_all);
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
