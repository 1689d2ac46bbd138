//! A thread whose owner waits for its end, unless the thread itself is who would wait: foreign code that it runs
//! may drop the owner.
//!
//! Invariant: it has ended when [`OwnThread::join`] returns, unless that was called on the thread.

use std::cell::Cell;

use crate::sync::{JoinHandle, order_key, spawn, thread_local};

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
    pub(crate) fn start(work: impl FnOnce() + Send + 'static) -> Self {
        let key = order_key();
        let handle = spawn(move || {
            HERE.with(|here| here.set(key));
            work();
        });
        OwnThread {
            key,
            handle: Some(handle),
        }
    }

    /// Waits for its end. On the thread itself there is nobody to wait for: it ends after what it runs.
    pub(crate) fn join(&mut self) {
        let elsewhere = HERE.with(Cell::get) != self.key;
        if let Some(handle) = self.handle.take().filter(|_| elsewhere) {
            handle.join();
        }
    }
}
