//! The textbook channel: a queue under one lock, and one condition variable for each side.
//!
//! The producer waits while the queue is full, and the consumer while it is empty. Each wakes one thread of the other
//! side after changing that. It is the bounded buffer of Dijkstra's "Cooperating sequential processes" (1965), with
//! Hoare's monitor conditions (1974), signalling as in Mesa (1980). It is the baseline: the cost of a channel without
//! any optimisation.
//!
//! Invariant: `queue.len() <= capacity`, and everything is read and written under the lock. All waiters of one
//! condition are of one kind, and each checks again before it waits on or gives up. So waking one per change loses no
//! wake-up: a waiter that is woken after its deadline still takes a value that is there.
//!
//! Not claimed, because a condition variable cannot provide it:
//! - waiter-fifo: any thread may take the lock between a wake-up and the woken thread.
//! - pending-puts-survive: a waiting put keeps its own value. At a close it wakes, sees the channel closed and answers
//!   so.
//! - non-blocking-try: a thread stalled under the lock stalls every `offer` and `poll`.
//! - a rendezvous: pairing a put with a take needs a queue of waiters, which this design does not have. With counters
//!   of waiting takes, a later take could steal the value of an `offer` that was already answered. A put that times out
//!   would also race its own hand-over.

use std::collections::VecDeque;
use std::mem;

use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutDeadline, PutError, PutUntilError,
    TakeDeadline, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::trampoline;
use crate::sync::{self, Arc, Mutex, MutexGuard};

/// The textbook mutex-and-condvar channel.
#[derive(Clone, Copy, Debug)]
pub struct Condvar;

/// The half that puts. Dropping the last one closes the channel. Buffered values can still be taken.
#[derive(Debug)]
pub struct Tx<T>(Arc<Shared<T>>);

/// The half that takes. Dropping the last one closes the channel and drops the buffered values.
#[derive(Debug)]
pub struct Rx<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    /// Waited for by takes.
    filled: sync::Condvar,
    /// Waited for by puts.
    emptied: sync::Condvar,
}

#[derive(Debug)]
struct State<T> {
    queue: VecDeque<T>,
    /// `usize::MAX` stands for an unbounded buffer, which is never that full.
    capacity: usize,
    closed: bool,
    producers: usize,
    consumers: usize,
}

impl<T> State<T> {
    fn offer(&mut self, value: T) -> Offered<T> {
        if self.closed {
            Offered::Closed(value)
        } else if self.queue.len() == self.capacity {
            Offered::WouldWait(value)
        } else {
            self.queue.push_back(value);
            Offered::Done
        }
    }

    fn poll(&mut self) -> Polled<T> {
        match self.queue.pop_front() {
            Some(value) => Polled::Done(value),
            None if self.closed => Polled::Closed,
            None => Polled::WouldWait,
        }
    }
}

impl<T> Shared<T> {
    /// Refuses further puts, and wakes all waiting threads.
    fn close(&self, mut state: MutexGuard<'_, State<T>>) {
        state.closed = true;
        drop(state);
        self.filled.notify_all();
        self.emptied.notify_all();
    }
}

impl Channels for Condvar {
    type Tx<T: Message> = Tx<T>;
    type Rx<T: Message> = Rx<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Tx<T>, Rx<T>)> {
        let capacity = match buffer {
            Buffer::Fixed(capacity) => capacity.get(),
            Buffer::Unbounded => usize::MAX,
            Buffer::Rendezvous | Buffer::Dropping(_) | Buffer::Sliding(_) => return None,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                capacity,
                closed: false,
                producers: 1,
                consumers: 1,
            }),
            filled: sync::Condvar::new(),
            emptied: sync::Condvar::new(),
        });
        Some((Tx(Arc::clone(&shared)), Rx(shared)))
    }

    fn another_tx<T: Message>(tx: &Tx<T>) -> Option<Tx<T>> {
        tx.0.state.lock().producers += 1;
        Some(Tx(Arc::clone(&tx.0)))
    }

    fn another_rx<T: Message>(rx: &Rx<T>) -> Option<Rx<T>> {
        rx.0.state.lock().consumers += 1;
        Some(Rx(Arc::clone(&rx.0)))
    }

    fn close<T: Message>(tx: &Tx<T>) -> bool {
        tx.0.close(tx.0.state.lock());
        true
    }

    fn same_tx<T: Message>(one: &Tx<T>, other: &Tx<T>) -> Option<bool> {
        Some(Arc::ptr_eq(&one.0, &other.0))
    }

    fn same_rx<T: Message>(one: &Rx<T>, other: &Rx<T>) -> Option<bool> {
        Some(Arc::ptr_eq(&one.0, &other.0))
    }

    fn offer<T: Message>(tx: &mut Tx<T>, value: T) -> Offered<T> {
        let answer = tx.0.state.lock().offer(value);
        if matches!(answer, Offered::Done) {
            tx.0.filled.notify_one();
        }
        answer
    }

    fn poll<T: Message>(rx: &mut Rx<T>) -> Polled<T> {
        let answer = rx.0.state.lock().poll();
        if matches!(answer, Polled::Done(_)) {
            rx.0.emptied.notify_one();
        }
        answer
    }
}

impl Blocking for Condvar {
    fn put<T: Message>(tx: &mut Tx<T>, mut value: T) -> Result<(), PutError<T>> {
        let Shared {
            state,
            filled,
            emptied,
        } = &*tx.0;
        let mut state = state.lock();
        loop {
            match state.offer(value) {
                Offered::Done => break,
                Offered::Closed(value) => return Err(PutError::Closed(Some(value))),
                Offered::WouldWait(back) => value = back,
            }
            trampoline::before_waiting();
            state = emptied.wait(state);
        }
        drop(state);
        filled.notify_one();
        Ok(())
    }

    fn take<T: Message>(rx: &mut Rx<T>) -> Result<T, TakeError> {
        let Shared {
            state,
            filled,
            emptied,
        } = &*rx.0;
        let mut state = state.lock();
        let value = loop {
            match state.poll() {
                Polled::Done(value) => break value,
                Polled::Closed => return Err(TakeError::Closed),
                Polled::WouldWait => {}
            }
            trampoline::before_waiting();
            state = filled.wait(state);
        };
        drop(state);
        emptied.notify_one();
        Ok(value)
    }
}

impl PutDeadline for Condvar {
    fn put_until<T: Message>(
        tx: &mut Tx<T>,
        mut value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        let Shared {
            state,
            filled,
            emptied,
        } = &*tx.0;
        let mut state = state.lock();
        let mut passed = false;
        loop {
            match state.offer(value) {
                Offered::Done => break,
                Offered::Closed(value) => {
                    return Err(PutUntilError::Put(PutError::Closed(Some(value))));
                }
                Offered::WouldWait(value) if passed => return Err(PutUntilError::TimedOut(value)),
                Offered::WouldWait(back) => value = back,
            }
            trampoline::before_waiting();
            (state, passed) = emptied.wait_until(state, deadline);
        }
        drop(state);
        filled.notify_one();
        Ok(())
    }
}

impl TakeDeadline for Condvar {
    fn take_until<T: Message>(rx: &mut Rx<T>, deadline: Deadline) -> Result<T, TakeUntilError> {
        let Shared {
            state,
            filled,
            emptied,
        } = &*rx.0;
        let mut state = state.lock();
        let mut passed = false;
        let value = loop {
            match state.poll() {
                Polled::Done(value) => break value,
                Polled::Closed => return Err(TakeUntilError::Take(TakeError::Closed)),
                Polled::WouldWait if passed => return Err(TakeUntilError::TimedOut),
                Polled::WouldWait => {}
            }
            trampoline::before_waiting();
            (state, passed) = filled.wait_until(state, deadline);
        };
        drop(state);
        emptied.notify_one();
        Ok(value)
    }
}

impl<T> Drop for Tx<T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.producers -= 1;
        if state.producers == 0 {
            self.0.close(state);
        }
    }
}

impl<T> Drop for Rx<T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.consumers -= 1;
        if state.consumers == 0 {
            // No consumer is left to take them. They are dropped after the lock is released, because the `drop` of a
            // value may use the channel, or panic.
            let abandoned = mem::take(&mut state.queue);
            self.0.close(state);
            drop(abandoned);
        }
    }
}
