//! A waker that remembers whether it was woken, and wakes the thread that listens to it. A thread with several futures
//! polls only what was woken by its latest waker, so a wake-up that goes to another waker is missed as in a real
//! executor.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// Std primitives in every world: they order nothing between the threads of a model.
#[derive(Default)]
pub(crate) struct Bell {
    rung: AtomicBool,
    thread: Mutex<Option<Waker>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.store(true, Ordering::Relaxed);
        let thread = self.swap(None);
        if let Some(thread) = thread {
            thread.wake();
        }
    }
}

impl Bell {
    /// Wakes that thread the next time. Call it before asking [`Bell::is_rung`].
    pub(crate) fn hears(&self, thread: &Waker) {
        drop(self.swap(Some(thread.clone())));
    }

    /// A waker is cloned and dropped with the lock open: in an explored world either may switch threads.
    fn swap(&self, thread: Option<Waker>) -> Option<Waker> {
        let mut heard = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut heard, thread)
    }

    /// Whether it was woken.
    pub(crate) fn is_rung(&self) -> bool {
        self.rung.load(Ordering::Relaxed)
    }
}
