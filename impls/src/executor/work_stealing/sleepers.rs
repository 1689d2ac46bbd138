//! Idle threads.

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use crate::sync::{Condvar, Mutex};

/// How many threads sleep, and what wakes them.
pub(super) struct Sleepers {
    /// Written with the lock held, read without.
    asleep: AtomicUsize,
    open: AtomicBool,
    lock: Mutex<()>,
    called: Condvar,
}

impl Sleepers {
    pub(super) fn new() -> Self {
        Sleepers {
            asleep: AtomicUsize::new(0),
            open: AtomicBool::new(true),
            lock: Mutex::new(()),
            called: Condvar::new(),
        }
    }

    pub(super) fn are_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Sleeps until called, unless there is work by now, or the executor is closed.
    pub(super) fn sleep_unless(&self, has_work: impl FnOnce() -> bool) {
        let held = self.lock.lock();
        // Relaxed: the fences order it against the queues, and the lock orders the writes.
        self.asleep.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let held = if self.are_open() && !has_work() {
            self.called.wait(held)
        } else {
            held
        };
        self.asleep.fetch_sub(1, Ordering::Relaxed);
        drop(held);
    }

    /// Wakes one thread, if any sleeps: a task was queued.
    pub(super) fn call(&self) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) > 0 {
            // A thread that has announced its sleep, and does not sleep yet, holds the lock.
            drop(self.lock.lock());
            self.called.notify_one();
        }
    }

    /// Wakes all threads, for good.
    pub(super) fn close(&self) {
        let held = self.lock.lock();
        self.open.store(false, Ordering::Release);
        drop(held);
        self.called.notify_all();
    }
}
