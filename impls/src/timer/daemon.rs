//! The one thread of a timer, and the code of others that it runs.
//!
//! Invariant: it has ended when the timer's drop returns, unless that drop happens on the thread itself.

use std::cell::Cell;

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{JoinHandle, contain, order_key, precise_wakeups, spawn, thread_local};

thread_local! {
    /// Which daemon this thread is; 0 for none.
    static HERE: Cell<u64> = const { Cell::new(0) };
}

/// A timer's thread.
pub(super) struct Daemon {
    key: u64,
    handle: Option<JoinHandle<()>>,
}

impl Daemon {
    /// Starts it.
    pub(super) fn start(work: impl FnOnce() + Send + 'static) -> Self {
        let key = order_key();
        let handle = spawn(move || {
            HERE.with(|here| here.set(key));
            precise_wakeups();
            work();
        });
        Daemon {
            key,
            handle: Some(handle),
        }
    }

    /// Waits for its end. On the thread itself, where a callback dropped its own timer, there is nobody to
    /// wait for: it ends after that callback.
    pub(super) fn join(&mut self) {
        let elsewhere = HERE.with(Cell::get) != self.key;
        if let Some(handle) = self.handle.take().filter(|_| elsewhere) {
            handle.join();
        }
    }
}

/// Runs callbacks, whose panics go no further than to be counted.
pub(super) struct Contained {
    panics: AtomicU64,
}

impl Contained {
    pub(super) fn new() -> Self {
        Contained {
            panics: AtomicU64::new(0),
        }
    }

    /// Runs foreign code on a thread that has others to serve. The panic hook has reported what it says.
    pub(super) fn run(&self, call: impl FnOnce()) {
        if contain(call).is_none() {
            // Relaxed: a statistic that orders nothing.
            self.panics.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many panicked.
    pub(super) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }
}
