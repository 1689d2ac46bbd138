//! Counting panics of tasks on executors that keep them to themselves.

use crate::sync::Arc;
use crate::sync::atomic::{AtomicU64, Ordering};

/// How many tasks and pieces of work ended in a panic.
#[derive(Clone, Debug, Default)]
pub(super) struct Panics(Arc<AtomicU64>);

/// Dropped while its thread unwinds, it counts a panic.
pub(super) struct PanicWatch(Panics);

impl Panics {
    /// A watch for a task: held across its waits, it is dropped by the unwinding of a poll that panics.
    pub(super) fn watch(&self) -> PanicWatch {
        PanicWatch(self.clone())
    }

    pub(super) fn count(&self) -> u64 {
        // Relaxed: a count, nothing is published through it.
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for PanicWatch {
    fn drop(&mut self) {
        if ::std::thread::panicking() {
            // Relaxed: as above.
            self.0.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}
