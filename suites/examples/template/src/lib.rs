//! A bounded queue of many senders and one receiver, a timer and an executor, as a crate of your own has them: behind the
//! locks of std, and without a word of Flowmeter.

mod crew;
mod ticker;

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

pub use crew::{Crew, Spawner};
pub use ticker::Ticker;

/// Puts values in. A clone is another sender; the last one dropped closes the queue.
#[derive(Debug)]
pub struct Sender<T>(Arc<Shared<T>>);

/// Takes values out. Dropped, it closes the queue, and drops what is in it.
#[derive(Debug)]
pub struct Receiver<T>(Arc<Shared<T>>);

/// Why a value was not sent.
#[derive(Debug)]
pub enum Refused<T> {
    /// There is no room.
    Full(T),
    /// The queue is closed.
    Closed(T),
}

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    /// Waiters check again at every change.
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    queue: VecDeque<T>,
    capacity: usize,
    senders: usize,
    closed: bool,
}

/// A queue with room for so many values.
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let state = State {
        queue: VecDeque::with_capacity(capacity),
        capacity,
        senders: 1,
        closed: false,
    };
    let shared = Arc::new(Shared {
        state: Mutex::new(state),
        changed: Condvar::new(),
    });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl<T> Shared<T> {
    fn locked(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        let woken = self.changed.wait(state);
        woken.unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn push(&mut self, value: T) -> Result<(), Refused<T>> {
        if self.closed {
            return Err(Refused::Closed(value));
        }
        if self.queue.len() == self.capacity {
            return Err(Refused::Full(value));
        }
        self.queue.push_back(value);
        Ok(())
    }
}

impl<T> Sender<T> {
    /// Waits for room. A closed queue gives the value back.
    pub fn send(&self, mut value: T) -> Result<(), T> {
        let mut state = self.0.locked();
        loop {
            match state.push(value) {
                Ok(()) => break,
                Err(Refused::Closed(value)) => return Err(value),
                Err(Refused::Full(back)) => value = back,
            }
            state = self.0.wait(state);
        }
        drop(state);
        self.0.changed.notify_all();
        Ok(())
    }

    /// Does not wait.
    pub fn try_send(&self, value: T) -> Result<(), Refused<T>> {
        self.0.locked().push(value)?;
        self.0.changed.notify_all();
        Ok(())
    }

    /// Refuses later values; those in the queue can still be received.
    pub fn close(&self) {
        self.0.locked().closed = true;
        self.0.changed.notify_all();
    }
}

impl<T> Receiver<T> {
    /// Waits for a value; `None` where the queue is closed and empty.
    pub fn recv(&self) -> Option<T> {
        let mut state = self.0.locked();
        loop {
            let value = state.queue.pop_front();
            if value.is_some() || state.closed {
                drop(state);
                self.0.changed.notify_all();
                return value;
            }
            state = self.0.wait(state);
        }
    }

    /// Does not wait. Without a value it returns whether one may still come.
    pub fn try_recv(&self) -> Result<T, bool> {
        let mut state = self.0.locked();
        let value = state.queue.pop_front().ok_or(!state.closed)?;
        drop(state);
        self.0.changed.notify_all();
        Ok(value)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.locked().senders += 1;
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.locked();
        state.senders -= 1;
        state.closed |= state.senders == 0;
        drop(state);
        self.0.changed.notify_all();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.0.locked();
        state.closed = true;
        // The drop of a value may use the queue, so it has to come after the lock.
        let left = std::mem::take(&mut state.queue);
        drop(state);
        self.0.changed.notify_all();
        drop(left);
    }
}
