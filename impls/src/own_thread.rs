//! A thread with an owner that waits for its end. Foreign code on the thread may drop the owner; in that case the owner
//! does not wait for its own thread.
//!
//! Invariant: the thread has ended when [`OwnThread::join`] returns, unless that was called on the thread itself.

use std::cell::Cell;

use crate::channel::trampoline;
use crate::sync::{JoinHandle, order_key, thread_local, try_spawn};

thread_local! {
    /// The key of this `OwnThread`; 0 on other threads.
    static HERE: Cell<u64> = const { Cell::new(0) };
}

pub(crate) struct OwnThread {
    key: u64,
    handle: Option<JoinHandle<()>>,
}

impl OwnThread {
    /// Starts the thread.
    ///
    /// # Panics
    /// When the system cannot start a thread.
    pub(crate) fn start(work: impl FnOnce() + Send + 'static) -> Self {
        Self::try_start(work).expect("the system starts a thread")
    }

    /// Starts the thread; `None` when the system cannot.
    pub(crate) fn try_start(work: impl FnOnce() + Send + 'static) -> Option<Self> {
        let key = order_key();
        #[cfg(test)]
        let alive = shortage::admit()?;
        let handle = try_spawn(move || {
            #[cfg(test)]
            let _alive = alive;
            HERE.with(|here| here.set(key));
            work();
        })?;
        Some(OwnThread {
            key,
            handle: Some(handle),
        })
    }

    /// Waits for the end of the thread. On the thread itself it returns at once: the thread ends after its present
    /// work.
    pub(crate) fn join(&mut self) {
        let elsewhere = HERE.with(Cell::get) != self.key;
        if let Some(handle) = self.handle.take().filter(|_| elsewhere) {
            trampoline::before_waiting();
            handle.join();
        }
    }
}

/// A system that runs out of threads, for tests of what is left behind then.
#[cfg(test)]
pub(crate) mod shortage {
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    struct Shortage {
        left: usize,
        /// Each running thread has a clone.
        alive: Arc<()>,
    }

    thread_local! {
        static SHORTAGE: RefCell<Option<Shortage>> = const { RefCell::new(None) };
    }

    /// Runs `act` while only so many threads can be started. Returns its result, unless it panics, and how many of the
    /// threads still run.
    pub(crate) fn after<R>(starts: usize, act: impl FnOnce() -> R) -> (Option<R>, usize) {
        let alive = Arc::new(());
        let short = Shortage {
            left: starts,
            alive: Arc::clone(&alive),
        };
        SHORTAGE.set(Some(short));
        let answer = catch_unwind(AssertUnwindSafe(act)).ok();
        SHORTAGE.set(None);
        (answer, Arc::strong_count(&alive) - 1)
    }

    /// A token that a thread holds while it runs; `None` when no thread is left.
    pub(super) fn admit() -> Option<Arc<()>> {
        SHORTAGE.with_borrow_mut(|shortage| {
            let Some(short) = shortage else {
                return Some(Arc::default());
            };
            short.left = short.left.checked_sub(1)?;
            Some(Arc::clone(&short.alive))
        })
    }
}
