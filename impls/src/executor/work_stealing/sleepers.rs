//! Idle threads.

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use crate::sync::{Condvar, Mutex};

/// How many threads sleep, and what wakes them.
///
/// A notification is a system call, also for a thread that was notified before and does not run yet. So each sleeper is
/// called once, and a call without sleepers is a fence and a load.
pub(super) struct Sleepers {
    /// Those that were not called yet. Written with the lock held, read without.
    asleep: AtomicUsize,
    open: AtomicBool,
    /// The calls that no sleeper has heard yet.
    calls: Mutex<usize>,
    called: Condvar,
}

impl Sleepers {
    pub(super) fn new() -> Self {
        Sleepers {
            asleep: AtomicUsize::new(0),
            open: AtomicBool::new(true),
            calls: Mutex::new(0),
            called: Condvar::new(),
        }
    }

    pub(super) fn are_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Sleeps until called, unless there is work by now, or the executor is closed.
    pub(super) fn sleep_unless(&self, has_work: impl FnOnce() -> bool) {
        let mut calls = self.calls.lock();
        // Relaxed: the fences order it against the queues, and the lock orders the writes.
        self.asleep.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.are_open() && !has_work() {
            calls = self.called.wait(calls);
            while *calls == 0 && self.are_open() {
                calls = self.called.wait(calls);
            }
            if *calls > 0 {
                *calls -= 1;
                return;
            }
        }
        self.asleep.fetch_sub(1, Ordering::Relaxed);
    }

    /// Wakes one thread, if any sleeps: a task was queued.
    pub(super) fn call(&self) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) == 0 {
            return;
        }
        // A thread that has announced its sleep, and does not sleep yet, holds the lock.
        let mut calls = self.calls.lock();
        if self.asleep.load(Ordering::Relaxed) > 0 {
            self.asleep.fetch_sub(1, Ordering::Relaxed);
            *calls += 1;
            drop(calls);
            self.called.notify_one();
        }
    }

    /// Wakes all threads, for good.
    pub(super) fn close(&self) {
        let calls = self.calls.lock();
        self.open.store(false, Ordering::Release);
        drop(calls);
        self.called.notify_all();
    }
}
