//! A lock that one thread takes again and again, and that others want between two of its turns.
//!
//! Who releases a lock and takes it again a moment later has it before anybody is awake who slept for it: a thread that
//! arms one timer while a hundred thousand fire waited for milliseconds. So who finds the lock taken says that it wants it and
//! looks again for a while before it sleeps, and the thread that fires gives way to it for as long.

use crate::spin::Spin;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard, spinning_pays};

pub(super) struct Gate<T> {
    lock: Mutex<T>,
    /// How many look for a moment at which it is free. Nothing is handed over by it or by `turns`, so every order is
    /// relaxed.
    wanted: AtomicUsize,
    /// How often one of these has stopped looking.
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

    /// Takes the lock again, a moment after it was released: once somebody who looks for that moment has had it. One of them
    /// each time, or who fires would wait for as long as others come.
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
            && spin.again_before_sleep()
        {}
    }
}
