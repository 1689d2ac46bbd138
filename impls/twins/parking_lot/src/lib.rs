//! Takes the place of parking_lot in a twin: its locks without poison, over those of `flowmeter-std`.

use std::fmt;
use std::sync::PoisonError;

use flowmeter_std::sync as explored;

pub use explored::MutexGuard;

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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(explored::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
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
