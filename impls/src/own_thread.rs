//! A thread whose owner waits for its end, unless the thread itself is who would wait: foreign code that it runs
//! may drop the owner.
//!
//! Invariant: it has ended when [`OwnThread::join`] returns, unless that was called on the thread.

use std::cell::Cell;

use crate::channel::trampoline;
use crate::sync::{JoinHandle, order_key, thread_local, try_spawn};

thread_local! {
    /// Which of them this thread is; 0 for none.
    static HERE: Cell<u64> = const { Cell::new(0) };
}

pub(crate) struct OwnThread {
    key: u64,
    handle: Option<JoinHandle<()>>,
}

impl OwnThread {
    /// Starts it.
    ///
    /// # Panics
    /// When the system cannot start a thread.
    pub(crate) fn start(work: impl FnOnce() + Send + 'static) -> Self {
        Self::try_start(work).expect("the system starts a thread")
    }

    /// Starts it; `None` when the system cannot.
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

    /// Waits for its end. On the thread itself there is nobody to wait for: it ends after what it runs.
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

    /// Does `act` while only so many threads can be started. Answers what it answers, unless it panics, and how many of the
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

    /// What a thread holds while it runs; `None` when there is no thread left.
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
