//! Threads for blocking work, as many as there is work at once; a free thread takes the next piece.
//!
//! Invariant, whenever the lock is free: no more pieces wait than threads are free, so none waits behind work that
//! blocks. This is what core.async's `thread` does on a cached pool, except that threads stay until the end.

use std::collections::VecDeque;

use crate::own_thread::OwnThread;
use crate::sync::{Arc, Condvar, Mutex};

/// A piece of work; it does not panic.
pub(super) type Work = Box<dyn FnOnce() + Send>;

pub(super) struct BlockingThreads(Arc<Place>);

struct Place {
    state: Mutex<State>,
    /// There is work for a free thread, or the executor is closed.
    changed: Condvar,
}

struct State {
    open: bool,
    /// Threads that wait for work, or are about to look for it.
    free: usize,
    waiting: VecDeque<Work>,
    threads: Vec<OwnThread>,
}

impl BlockingThreads {
    pub(super) fn new() -> Self {
        let state = State {
            open: true,
            free: 0,
            waiting: VecDeque::new(),
            threads: Vec::new(),
        };
        BlockingThreads(Arc::new(Place {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }))
    }

    /// Has the work done. After [`BlockingThreads::close`] it returns the work, to be dropped.
    ///
    /// # Panics
    /// When it needs a further thread, and the system cannot start one. The work is dropped.
    pub(super) fn run(&self, work: Work) -> Option<Work> {
        let mut state = self.0.state.lock();
        if !state.open {
            return Some(work);
        }
        let is_awaited = state.waiting.len() < state.free;
        if !is_awaited {
            // With the lock held, so that `join` finds the thread. Before the work is queued: if the thread cannot
            // start, the work is dropped.
            let place = Arc::clone(&self.0);
            let thread = OwnThread::start(move || place.work());
            state.threads.push(thread);
            state.free += 1;
        }
        state.waiting.push_back(work);
        drop(state);
        if is_awaited {
            self.0.changed.notify_one();
        }
        None
    }

    /// Lets no further work begin; returns the work that has not begun, to be dropped.
    pub(super) fn close(&self) -> VecDeque<Work> {
        let mut state = self.0.state.lock();
        state.open = false;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.0.changed.notify_all();
        waiting
    }

    /// Waits for the work that has begun.
    pub(super) fn join(&self) {
        let threads = std::mem::take(&mut self.0.state.lock().threads);
        for mut thread in threads {
            thread.join();
        }
    }
}

impl Place {
    fn work(&self) {
        while let Some(work) = self.wait_for_work() {
            work();
            self.state.lock().free += 1;
        }
    }

    fn wait_for_work(&self) -> Option<Work> {
        let mut state = self.state.lock();
        while state.open {
            if let Some(work) = state.waiting.pop_front() {
                state.free -= 1;
                return Some(work);
            }
            state = self.changed.wait(state);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::own_thread::shortage;

    #[test]
    fn work_whose_thread_cannot_start_is_dropped_and_never_runs() {
        let threads = BlockingThreads::new();
        let (runs, ran) = mpsc::channel();
        let never = runs.clone();
        let (queued, _) = shortage::after(0, || {
            threads.run(Box::new(move || {
                never.send("refused").expect("it is awaited")
            }))
        });
        assert!(queued.is_none(), "it needs a thread");
        let refused = threads.run(Box::new(move || runs.send("later").expect("it is awaited")));
        assert!(refused.is_none());
        assert_eq!(ran.iter().collect::<Vec<_>>(), ["later"]);
        assert!(threads.close().is_empty());
        threads.join();
    }
}
