//! One task of the executor, and its waker.

use std::future::Future;
use std::pin::Pin;
#[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
use std::sync::Arc as WakerArc;
use std::task::Wake;

use crate::sync::{Arc, Mutex, Track};

use super::Shared;

/// The future of a task.
pub(super) type TheFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A reference to a task, for running and waking it. The checkers need not see the count of std's Arc: all that is
/// reached through it has a lock of its own.
#[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
pub(super) type Handle = WakerArc<Task>;

pub(super) struct Task {
    shared: Arc<Shared>,
    number: u64,
    state: Mutex<State>,
    /// Loom and shuttle report it if it leaks.
    _alive: Track<()>,
}

struct State {
    /// Whether it was woken since its last poll began.
    woken: bool,
    future: Place,
}

/// Where the future is.
enum Place {
    Here(TheFuture),
    /// On a thread that polls it.
    Away,
    /// The executor has ended.
    Gone,
}

impl Task {
    /// A task that has not been woken yet.
    pub(super) fn new(shared: Arc<Shared>, number: u64, future: TheFuture) -> Handle {
        let state = State {
            woken: false,
            future: Place::Here(future),
        };
        Handle::new(Task {
            shared,
            number,
            state: Mutex::new(state),
            _alive: Track::new(()),
        })
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Takes the future out for a poll.
    pub(super) fn begin(&self) -> Option<TheFuture> {
        let mut state = self.state.lock();
        match std::mem::replace(&mut state.future, Place::Away) {
            Place::Here(future) => {
                state.woken = false;
                Some(future)
            }
            elsewhere => {
                state.future = elsewhere;
                None
            }
        }
    }

    /// Takes a pending future back, and queues the task if it was woken meanwhile. If the executor has ended it returns
    /// the future, to be dropped without the lock.
    pub(super) fn suspend(self: &Handle, future: TheFuture) -> Option<TheFuture> {
        let mut state = self.state.lock();
        if let Place::Gone = state.future {
            return Some(future);
        }
        state.future = Place::Here(future);
        if state.woken {
            // Without waking a thread: this one looks at its queue next.
            self.shared.queue(Handle::clone(self));
        }
        None
    }

    /// Ends the task. Returns the future, to be dropped without the lock, unless a thread has it.
    pub(super) fn end(&self) -> Option<TheFuture> {
        match std::mem::replace(&mut self.state.lock().future, Place::Gone) {
            Place::Here(future) => Some(future),
            Place::Away | Place::Gone => None,
        }
    }

    /// Queues the task, unless it was woken before or is on a thread.
    pub(super) fn call(self: &Handle) {
        let mut state = self.state.lock();
        let was_woken = std::mem::replace(&mut state.woken, true);
        if !was_woken && let Place::Here(_) = state.future {
            // With the lock held: once the task has ended it is never queued.
            self.shared.queue(Handle::clone(self));
            drop(state);
            self.shared.sleepers.call();
        }
    }
}

impl Wake for Task {
    fn wake(self: Handle) {
        self.call();
    }

    fn wake_by_ref(self: &Handle) {
        self.call();
    }
}
