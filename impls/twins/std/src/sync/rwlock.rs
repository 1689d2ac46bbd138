//! `RwLock`. The schedule picks the next holder, a reader or a writer.

use ::std::cell::UnsafeCell;
use ::std::fmt;
use ::std::marker::PhantomData;
use ::std::ops::{Deref, DerefMut};
use ::std::panic::{RefUnwindSafe, UnwindSafe};
use ::std::sync::atomic::{AtomicUsize, Ordering};
use ::std::thread::panicking;

use flowmeter_core::engine::{Line, about_to_write, locks};

use super::{LockResult, Poison, PoisonError, TryLockError, TryLockResult, take};

/// A writer holds the lock. Smaller numbers count readers.
const WRITTEN: usize = usize::MAX;

/// As `std::sync::RwLock`.
pub struct RwLock<T: ?Sized> {
    holders: AtomicUsize,
    poison: Poison,
    line: Line,
    value: UnsafeCell<T>,
}

// SAFETY: as std's.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: readers share the value, and a writer has it alone.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
impl<T: ?Sized> UnwindSafe for RwLock<T> {}
impl<T: ?Sized> RefUnwindSafe for RwLock<T> {}

/// As `std::sync::RwLockReadGuard`.
#[must_use = "the lock is released when the guard is dropped"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    not_send: PhantomData<*const ()>,
}

/// As `std::sync::RwLockWriteGuard`.
#[must_use = "the lock is released when the guard is dropped"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    was_panicking: bool,
    not_send: PhantomData<*const ()>,
}

// SAFETY: it gives out shared references only, as std's.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

#[allow(missing_docs, reason = "std documents them")]
impl<T> RwLock<T> {
    pub const fn new(value: T) -> Self {
        RwLock {
            holders: AtomicUsize::new(0),
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
impl<T: ?Sized> RwLock<T> {
    fn enters(&self) -> bool {
        let one_more = |readers: usize| (readers != WRITTEN).then(|| readers + 1);
        let entered = (self.holders).fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more);
        entered.is_ok()
    }

    fn enters_alone(&self) -> bool {
        let alone =
            (self.holders).compare_exchange(0, WRITTEN, Ordering::Acquire, Ordering::Relaxed);
        alone.is_ok()
    }

    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        locks(self, "locks to read");
        about_to_write(self);
        take(&self.line, "a lock to read", || self.enters());
        self.poison.told(self.reader())
    }

    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        locks(self, "locks to write");
        about_to_write(self);
        take(&self.line, "a lock to write", || self.enters_alone());
        self.poison.told(self.writer())
    }

    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        locks(self, "tries to lock to read");
        about_to_write(self);
        if !self.enters() {
            return Err(TryLockError::WouldBlock);
        }
        Ok(self.poison.told(self.reader())?)
    }

    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        locks(self, "tries to lock to write");
        about_to_write(self);
        if !self.enters_alone() {
            return Err(TryLockError::WouldBlock);
        }
        Ok(self.poison.told(self.writer())?)
    }

    fn reader(&self) -> RwLockReadGuard<'_, T> {
        RwLockReadGuard {
            lock: self,
            not_send: PhantomData,
        }
    }

    fn writer(&self) -> RwLockWriteGuard<'_, T> {
        RwLockWriteGuard {
            lock: self,
            was_panicking: panicking(),
            not_send: PhantomData,
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

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: no writer enters while a reader is in.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the writer is alone.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the writer is alone, and its guard is borrowed by itself.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        if self.lock.holders.fetch_sub(1, Ordering::Release) == 1 {
            self.lock.line.wake_all();
        }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.poison.left(self.was_panicking);
        self.lock.holders.store(0, Ordering::Release);
        self.lock.line.wake_all();
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T: ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
