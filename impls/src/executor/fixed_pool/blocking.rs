//! Threads for work that blocks, as many as there is work at once; one that is free takes the next.
//!
//! Invariant, whenever the lock is free: no more work waits than threads are free to take it, so none waits
//! for work that blocks. What core.async's `thread` does on a cached pool, but threads stay until the end.

use std::collections::VecDeque;

use crate::sync::{self, Arc, Condvar, JoinHandle, Mutex};

/// A piece of work; it does not panic.
pub(super) type Work = Box<dyn FnOnce() + Send>;

pub(super) struct BlockingThreads {
    place: Arc<Place>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Place {
    state: Mutex<State>,
    /// There is work for a free thread, or the end has come.
    changed: Condvar,
}

struct State {
    open: bool,
    /// Threads that wait.
    free: usize,
    waiting: VecDeque<Work>,
}

impl BlockingThreads {
    pub(super) fn new() -> Self {
        let state = State {
            open: true,
            free: 0,
            waiting: VecDeque::new(),
        };
        BlockingThreads {
            place: Arc::new(Place {
                state: Mutex::new(state),
                changed: Condvar::new(),
            }),
            threads: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn run(&self, work: Work) {
        let mut state = self.place.state.lock();
        if state.waiting.len() < state.free {
            state.waiting.push_back(work);
            drop(state);
            self.place.changed.notify_one();
        } else {
            drop(state);
            let place = Arc::clone(&self.place);
            let thread = sync::spawn(move || place.work(work));
            self.threads.lock().push(thread);
        }
    }

    /// Lets all work come to its end.
    pub(super) fn join(&self) {
        self.place.state.lock().open = false;
        self.place.changed.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            thread.join();
        }
    }
}

impl Place {
    fn work(&self, first: Work) {
        let mut next = Some(first);
        while let Some(work) = next {
            work();
            next = self.wait_for_work();
        }
    }

    fn wait_for_work(&self) -> Option<Work> {
        let mut state = self.state.lock();
        loop {
            if let Some(work) = state.waiting.pop_front() {
                return Some(work);
            }
            if !state.open {
                return None;
            }
            state.free += 1;
            state = self.changed.wait(state);
            state.free -= 1;
        }
    }
}
