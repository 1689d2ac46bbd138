//! A lock that one thread takes again and again, while others want it between two of its turns.
//!
//! A thread that releases a lock and retakes it a moment later wins against every thread that has to wake up first. A
//! thread that armed one timer while a hundred thousand fired waited for milliseconds. So a thread that finds the lock
//! taken announces that it wants it, and retries for a while before it sleeps. The firing thread gives way to it for a few
//! turns of spinning. It does not yield its core: where every thread arms timers as they fire, a quarter of the time went
//! into yields (docs/lab/2026-11-25-timer-firing.md).

use crate::spin::Spin;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard, spinning_pays};

pub(super) struct Gate<T> {
    lock: Mutex<T>,
    /// How many threads are retrying. Neither this nor `turns` publishes other data, so all orderings are relaxed.
    wanted: AtomicUsize,
    /// How often a thread has stopped retrying.
    turns: AtomicUsize,
}

impl<T> Gate<T> {
    pub(super) fn new(value: T) -> Self {
        Gate {
            lock: Mutex::new(value),
            wanted: AtomicUsize::new(0),
            turns: AtomicUsize::new(0),
        }
    }

    /// Takes the lock.
    #[inline]
    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        match self.lock.try_lock() {
            Some(guard) => guard,
            None => self.lock_taken(),
        }
    }

    #[cold]
    #[inline(never)]
    fn lock_taken(&self) -> MutexGuard<'_, T> {
        if !spinning_pays() {
            return self.lock.lock();
        }
        let mut spin = Spin::new();
        self.wanted.fetch_add(1, Ordering::Relaxed);
        let found = loop {
            if !spin.again_before_sleep() {
                break None;
            }
            if let Some(guard) = self.lock.try_lock() {
                break Some(guard);
            }
        };
        self.wanted.fetch_sub(1, Ordering::Relaxed);
        self.turns.fetch_add(1, Ordering::Relaxed);
        found.unwrap_or_else(|| self.lock.lock())
    }

    /// Takes the lock again, a moment after it was released. First it leaves a moment in which one retrying thread can
    /// take it. Only one each time: otherwise the firing thread would wait for as long as others arrive.
    #[inline]
    pub(super) fn lock_again(&self) -> MutexGuard<'_, T> {
        if spinning_pays() && self.wanted.load(Ordering::Relaxed) > 0 {
            self.give_way();
        }
        self.lock.lock()
    }

    #[cold]
    #[inline(never)]
    fn give_way(&self) {
        let mut spin = Spin::new();
        let turns = self.turns.load(Ordering::Relaxed);
        while self.wanted.load(Ordering::Relaxed) > 0
            && self.turns.load(Ordering::Relaxed) == turns
            && spin.again()
        {}
    }
}
