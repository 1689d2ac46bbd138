//! A thread that sleeps until the earliest of its calls is due.

use std::cell::Cell;

use flowmeter_harness::sync::Deadline;

use crate::sync::{Arc, Condvar, JoinHandle, Mutex, clock, order_key, spawn, thread_local};

type Call = Box<dyn FnOnce(Deadline) + Send>;

thread_local! {
    /// The ticker whose thread this is; 0 for none.
    static HERE: Cell<u64> = const { Cell::new(0) };
}

/// Calls back at deadlines. Dropped, it drops the calls that are left, and waits for its thread.
pub struct Ticker {
    shared: Arc<Shared>,
    key: u64,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    armed: Vec<(Deadline, Call)>,
    ended: bool,
}

impl Ticker {
    /// Starts its thread.
    pub fn new() -> Ticker {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                armed: Vec::new(),
                ended: false,
            }),
            changed: Condvar::new(),
        });
        let key = order_key();
        let working = Arc::clone(&shared);
        let thread = spawn(move || {
            HERE.with(|here| here.set(key));
            working.work();
        });
        Ticker {
            shared,
            key,
            thread: Some(thread),
        }
    }

    /// Calls once, then or later, and tells the deadline.
    pub fn at(&self, deadline: Deadline, call: impl FnOnce(Deadline) + Send + 'static) {
        let mut state = self.shared.state.lock();
        state.armed.push((deadline, Box::new(call)));
        drop(state);
        self.shared.changed.notify_one();
    }
}

impl Default for Ticker {
    fn default() -> Self {
        Ticker::new()
    }
}

impl Shared {
    fn work(&self) {
        let mut state = self.state.lock();
        while !state.ended {
            let earliest = (0..state.armed.len()).min_by_key(|&at| state.armed[at].0);
            state = match earliest.map(|at| (at, state.armed[at].0)) {
                None => self.changed.wait(state),
                Some((at, due)) if clock::has_passed(due) => {
                    let (due, call) = state.armed.remove(at);
                    drop(state);
                    call(due);
                    self.state.lock()
                }
                Some((_, due)) => self.changed.wait_until(state, due).0,
            };
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.ended = true;
        let left = std::mem::take(&mut state.armed);
        drop(state);
        self.shared.changed.notify_one();
        drop(left);
        // In a call of its own there is nobody to wait for.
        if HERE.with(Cell::get) != self.key
            && let Some(thread) = self.thread.take()
        {
            thread.join();
        }
    }
}
