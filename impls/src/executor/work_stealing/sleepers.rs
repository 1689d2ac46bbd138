//! Idle threads.

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use crate::sync::{Condvar, Mutex};

/// How many threads sleep, and what wakes them.
///
/// A notification is a system call, and the thread that it wakes runs only some time after it. So at most one call is on
/// its way. The thread that hears it looks at all queues, and calls the next one if there is more than it takes.
pub(super) struct Sleepers {
    /// Those that were not called. Written with the lock held, read without.
    asleep: AtomicUsize,
    /// Whether a sleeper was called and has not heard it yet. Written with the lock held, read without.
    called: AtomicBool,
    open: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Sleepers {
    pub(super) fn new() -> Self {
        Sleepers {
            asleep: AtomicUsize::new(0),
            called: AtomicBool::new(false),
            open: AtomicBool::new(true),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    pub(super) fn are_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Sleeps until called, unless there is work by now, or the executor is closed. Returns whether it was called. Then
    /// the thread looks at all queues, and calls the next one if it leaves tasks there.
    pub(super) fn sleep_unless(&self, has_work: impl FnOnce() -> bool) -> bool {
        let mut held = self.lock.lock();
        // Relaxed here and below: the fences order these two words against the queues, and the lock orders the writes.
        self.asleep.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.are_open() && !has_work() {
            held = self.changed.wait(held);
            while !self.called.load(Ordering::Relaxed) && self.are_open() {
                held = self.changed.wait(held);
            }
            if self.called.load(Ordering::Relaxed) {
                self.called.store(false, Ordering::Relaxed);
                drop(held);
                fence(Ordering::SeqCst);
                return true;
            }
        }
        self.asleep.fetch_sub(1, Ordering::Relaxed);
        false
    }

    /// Wakes one thread, if any sleeps and no call is on its way: a task was queued.
    pub(super) fn call(&self) {
        fence(Ordering::SeqCst);
        if !self.is_due() {
            return;
        }
        // A thread that has announced its sleep, and does not sleep yet, holds the lock.
        let held = self.lock.lock();
        if self.is_due() {
            self.asleep.fetch_sub(1, Ordering::Relaxed);
            self.called.store(true, Ordering::Relaxed);
            drop(held);
            self.changed.notify_one();
        }
    }

    fn is_due(&self) -> bool {
        self.asleep.load(Ordering::Relaxed) > 0 && !self.called.load(Ordering::Relaxed)
    }

    /// Wakes all threads, for good.
    pub(super) fn close(&self) {
        let held = self.lock.lock();
        self.open.store(false, Ordering::Release);
        drop(held);
        self.changed.notify_all();
    }
}
