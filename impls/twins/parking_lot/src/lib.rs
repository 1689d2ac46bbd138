//! Takes the place of parking_lot in a twin: its locks without poison, over those of `flowmeter-std`.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;

use flowmeter_std::sync as explored;

/// As `parking_lot::Mutex`.
#[derive(Default)]
pub struct Mutex<T: ?Sized>(explored::Mutex<T>);

/// As `parking_lot::const_mutex`.
pub const fn const_mutex<T>(value: T) -> Mutex<T> {
    Mutex::new(value)
}

#[allow(missing_docs, reason = "parking_lot documents them")]
impl<T> Mutex<T> {
    pub const fn new(value: T) -> Self {
        Mutex(explored::Mutex::new(value))
    }

    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[allow(missing_docs, reason = "parking_lot documents them")]
impl<T: ?Sized> Mutex<T> {
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.held(guard)
    }

    fn held<'a>(&'a self, guard: explored::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        MutexGuard {
            lock: self,
            guard: Some(guard),
        }
    }

    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(self.held(guard)),
            Err(explored::TryLockError::Poisoned(poisoned)) => {
                Some(self.held(poisoned.into_inner()))
            }
            Err(explored::TryLockError::WouldBlock) => None,
        }
    }

    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").finish_non_exhaustive()
    }
}

/// As `parking_lot::MutexGuard`.
#[must_use = "the lock is released when the guard is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    /// Empty only within [`MutexGuard::bump`].
    guard: Option<explored::MutexGuard<'a, T>>,
}

impl<T: ?Sized> MutexGuard<'_, T> {
    /// Lets a thread that waits have the lock.
    #[track_caller]
    pub fn bump(guard: &mut Self) {
        guard.guard = None;
        guard.guard = guard.lock.lock().guard.take();
    }
}

const HELD: &str = "a guard holds the lock until it is dropped";

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.guard.as_ref().expect(HELD)
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.guard.as_mut().expect(HELD)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
