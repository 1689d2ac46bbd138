//! `Mutex`. The next holder is chosen by the schedule.

use ::std::cell::UnsafeCell;
use ::std::fmt;
use ::std::ops::{Deref, DerefMut};
use ::std::panic::{RefUnwindSafe, UnwindSafe};
use ::std::sync::atomic::{AtomicBool, Ordering};
use ::std::thread::panicking;

use flowmeter_core::engine::{Line, about_to_write, locks};

use super::{LockResult, Poison, PoisonError, TryLockError, TryLockResult, take};

/// As `std::sync::Mutex`.
pub struct Mutex<T: ?Sized> {
    held: AtomicBool,
    poison: Poison,
    line: Line,
    value: UnsafeCell<T>,
}

// SAFETY: a thread reaches the value only while it holds the lock, as with std's.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

/// As `std::sync::MutexGuard`.
#[must_use = "the lock is released when the guard is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) lock: &'a Mutex<T>,
    was_panicking: bool,
    /// std's is not `Send`.
    not_send: ::std::marker::PhantomData<*const ()>,
}

// SAFETY: it gives out shared references only, as std's.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

#[allow(missing_docs, reason = "std documents them")]
impl<T> Mutex<T> {
    pub const fn new(value: T) -> Self {
        Mutex {
            held: AtomicBool::new(false),
            poison: Poison::new(),
            line: Line::new(),
            value: UnsafeCell::new(value),
        }
    }

    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.poison.is_set();
        let value = self.value.into_inner();
        if poisoned {
            Err(PoisonError::new(value))
        } else {
            Ok(value)
        }
    }
}

#[allow(missing_docs, reason = "std documents them")]
impl<T: ?Sized> Mutex<T> {
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        locks(self, "locks");
        self.lock_now()
    }

    /// Locks without a scheduling point before it.
    #[track_caller]
    pub(super) fn lock_now(&self) -> LockResult<MutexGuard<'_, T>> {
        about_to_write(self);
        take(&self.line, "a lock", || {
            !self.held.swap(true, Ordering::Acquire)
        });
        self.poison.told(self.guard())
    }

    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        locks(self, "tries to lock");
        about_to_write(self);
        if self.held.swap(true, Ordering::Acquire) {
            return Err(TryLockError::WouldBlock);
        }
        Ok(self.poison.told(self.guard())?)
    }

    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard {
            lock: self,
            was_panicking: panicking(),
            not_send: ::std::marker::PhantomData,
        }
    }

    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.poison.told(self.value.get_mut())
    }

    pub fn is_poisoned(&self) -> bool {
        self.poison.is_set()
    }

    pub fn clear_poison(&self) {
        self.poison.clear();
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock, and is borrowed by itself.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.poison.left(self.was_panicking);
        self.lock.held.store(false, Ordering::Release);
        self.lock.line.wake_all();
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

// Without the value: looking at it would be a step.
impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
