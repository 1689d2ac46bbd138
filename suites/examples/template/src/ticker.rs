//! A thread that sleeps until the earliest of its calls is due, and then makes all due calls.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

type Call = Box<dyn FnOnce() + Send>;

/// Calls back at moments. Dropped, it drops the calls that are left, and waits for its thread.
#[derive(Debug)]
pub struct Ticker {
    began: Instant,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    armed: Vec<(Instant, Call)>,
    /// The calls that were due when the thread last looked, the earliest at the end. Calls that are armed meanwhile
    /// come later.
    due: Vec<(Instant, Call)>,
    ended: bool,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// A call that panics, or panics when it is dropped, does not affect the others; the panic hook has reported it.
fn contained(run: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
        // Its drop might panic as well.
        std::mem::forget(panic);
    }
}

impl Ticker {
    /// Starts its thread.
    pub fn new() -> Ticker {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let working = Arc::clone(&shared);
        Ticker {
            began: Instant::now(),
            shared,
            thread: Some(thread::spawn(move || working.work())),
        }
    }

    /// Calls once, when the ticker has run for so long, or later. A moment that the clock cannot name never comes, so
    /// that call is dropped.
    pub fn at(&self, moment: Duration, call: impl FnOnce() + Send + 'static) {
        match self.began.checked_add(moment) {
            Some(due) => {
                self.shared.locked().armed.push((due, Box::new(call)));
                self.shared.changed.notify_one();
            }
            None => contained(|| drop(call)),
        }
    }
}

impl Default for Ticker {
    fn default() -> Self {
        Ticker::new()
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.locked();
        while !state.ended {
            if let Some((_, call)) = state.due.pop() {
                drop(state);
                contained(call);
                state = self.locked();
                continue;
            }
            let now = Instant::now();
            let earliest = state.armed.iter().map(|(due, _)| *due).min();
            state = match earliest.map(|due| due.saturating_duration_since(now)) {
                Some(Duration::ZERO) => {
                    state.batch(now);
                    continue;
                }
                Some(left) => {
                    let woken = self.changed.wait_timeout(state, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let woken = self.changed.wait(state);
                    woken.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }
}

impl State {
    /// Sets apart the calls that are due now.
    fn batch(&mut self, now: Instant) {
        let armed = std::mem::take(&mut self.armed).into_iter();
        (self.due, self.armed) = armed.partition(|(due, _)| *due <= now);
        self.due.sort_by_key(|(due, _)| *due);
        self.due.reverse();
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        let mut state = self.shared.locked();
        state.ended = true;
        let left = [
            std::mem::take(&mut state.due),
            std::mem::take(&mut state.armed),
        ];
        drop(state);
        self.shared.changed.notify_one();
        for call in left.into_iter().flatten() {
            contained(|| drop(call));
        }
        // Within a call the thread must not wait for itself.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}
