//! A thread that sleeps until the earliest of its calls is due, and then makes all due calls.

use std::cell::Cell;

use flowmeter_harness::sync::Deadline;

use crate::sync::{
    Arc, Condvar, JoinHandle, Mutex, clock, contain, order_key, spawn, thread_local,
};

type Call = Box<dyn FnOnce(Deadline) + Send>;

thread_local! {
    /// The ticker of this thread; 0 for none.
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
    /// The calls that were due when the thread last looked, the earliest at the end. Calls that are armed meanwhile
    /// come later.
    due: Vec<(Deadline, Call)>,
    ended: bool,
}

impl Ticker {
    /// Starts its thread.
    pub fn new() -> Ticker {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                armed: Vec::new(),
                due: Vec::new(),
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

    /// Calls once, at the deadline or later, with the deadline as the argument.
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
            if let Some((due, call)) = state.due.pop() {
                drop(state);
                // A call that panics does not affect the others; the panic hook has reported it.
                contain(|| call(due));
                state = self.state.lock();
                continue;
            }
            let deadlines = state.armed.iter().map(|(due, _)| *due);
            if let Some(last) = deadlines
                .clone()
                .filter(|due| clock::has_passed(*due))
                .max()
            {
                state.batch(last);
                continue;
            }
            state = match deadlines.min() {
                None => self.changed.wait(state),
                Some(earliest) => self.changed.wait_until(state, earliest).0,
            };
        }
    }
}

impl State {
    /// Sets apart the calls that are due by then.
    fn batch(&mut self, last: Deadline) {
        let armed = std::mem::take(&mut self.armed).into_iter();
        (self.due, self.armed) = armed.partition(|(due, _)| *due <= last);
        self.due.sort_by_key(|(due, _)| *due);
        self.due.reverse();
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.ended = true;
        let left = [
            std::mem::take(&mut state.due),
            std::mem::take(&mut state.armed),
        ];
        drop(state);
        self.shared.changed.notify_one();
        // The drop of a call may panic, and must not affect the others.
        for call in left.into_iter().flatten() {
            contain(|| drop(call));
        }
        // Within a call the thread must not wait for itself.
        if HERE.with(Cell::get) != self.key
            && let Some(thread) = self.thread.take()
        {
            thread.join();
        }
    }
}
