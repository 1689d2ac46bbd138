//! Counts panics of tasks on executors that do not report them.

use crate::sync::Arc;
use crate::sync::atomic::{AtomicU64, Ordering};

/// How many tasks and pieces of work ended in a panic.
#[derive(Clone, Debug, Default)]
pub(super) struct Panics(Arc<AtomicU64>);

/// Counts a panic if it is dropped while its thread unwinds.
pub(super) struct PanicWatch(Panics);

impl Panics {
    /// A watch for a task. The task holds it across its waits, so the unwinding of a poll that panics drops it.
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
