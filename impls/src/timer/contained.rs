//! Callbacks: foreign code that the single thread of a timer runs.

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::contain;

/// Runs callbacks, and counts their panics instead of propagating them.
pub(super) struct Contained {
    panics: AtomicU64,
}

impl Contained {
    pub(super) fn new() -> Self {
        Contained {
            panics: AtomicU64::new(0),
        }
    }

    /// Runs foreign code on a thread that serves other timers, too. The panic hook has reported the
    /// message.
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
