//! `mutex`: core.async's `ManyToManyChannel` in Rust, the reference for the other designs.
//!
//! One lock guards what is stored and who waits. A request that cannot be met at once waits as a
//! handler with a flag (`operation`); whoever meets it later commits it under the channel's lock, a take
//! with the value in its `hand`, and wakes its thread, future or callback after releasing it. An alts is
//! one such request that waits in several channels, whatever these carry, joined clause by clause under
//! separate locks as in core.async.
//!
//! Where it differs from core.async 1.5.648, on purpose: a closed port takes effect only once its alts is
//! won (A2), an alts never pairs with itself (A4), the 1,025th waiter gets an error instead of a panic
//! (C7), and requests that lost are removed by the time their call returns (A8).
//!
//! Source: `clojure.core.async.impl.channels` and `clojure.core.async/do-alts`, version 1.5.648.

mod alts;
mod batch;
mod callback;
mod effects;
mod family;
mod future;
mod hand;
mod handle;
mod operation;
mod reserve;
mod state;
mod store;
mod transformed;
mod waiting;

use std::fmt;

use flowmeter_harness::channel::{
    Buffer, Offered, Polled, PutError, PutUntilError, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::halves::{Halves, describe};
use super::trampoline;
use crate::sync::{Arc, Mutex, MutexGuard, Parker, clock};

pub use alts::{AnyClause, Prepared, PutClause, TakeClause};
pub use family::MutexChannels;
pub use future::{PutFuture, TakeFuture};
pub use handle::{Consumer, Producer, WeakProducer};
pub use reserve::Permit;

use effects::Effects;
use hand::Hand;
use operation::{Committed, Notify, Operation};
use state::{Attempt, State};
use store::Store;

/// How many puts may wait on one channel, and as many takes (C7).
pub const MAX_WAITERS: usize = 1024;

/// A channel: the one handle that puts, takes and closes. Clones are the same channel, and two handles
/// compare by identity (C13).
///
/// Handles are not counted: nothing but a close ends a channel. [`Channel::split`] and [`MutexChannels`] have halves that
/// are (C14).
pub struct Channel<T>(Arc<Shared<T>>);

struct Shared<T> {
    halves: Halves,
    name: Option<Box<str>>,
    state: Mutex<State<T>>,
}

impl<T> Shared<T> {
    #[inline]
    #[track_caller]
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock()
    }
}

impl<T> Clone for Channel<T> {
    fn clone(&self) -> Self {
        Channel(Arc::clone(&self.0))
    }
}

impl<T> PartialEq for Channel<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Eq for Channel<T> {}

impl<T: Send + 'static> fmt::Debug for Channel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe("Channel", self, f)
    }
}

impl<T: Send + 'static> Channel<T> {
    /// A channel with that buffer.
    pub fn new(buffer: Buffer) -> Self {
        Channel::storing(Store::new(buffer))
    }

    /// A channel with a name, which its `Debug` shows.
    pub fn named(name: impl Into<Box<str>>, buffer: Buffer) -> Self {
        Channel::called(Some(name.into()), State::new(Store::new(buffer)))
    }

    /// A channel whose first value answers every take, now and later (B1). Values are cloned under the
    /// channel's lock: neither `T::clone` nor the drop of what it leaves behind when it panics may use the channel.
    pub fn promise() -> Self
    where
        T: Clone,
    {
        Channel::storing(Store::promise(T::clone))
    }

    fn storing(store: Store<T>) -> Self {
        Channel::holding(State::new(store))
    }

    fn holding(state: State<T>) -> Self {
        Channel::called(None, state)
    }

    fn called(name: Option<Box<str>>, state: State<T>) -> Self {
        Channel(Arc::new(Shared {
            halves: Halves::new(),
            name,
            state: Mutex::new(state),
        }))
    }

    /// Puts, waiting for room or for a taker.
    ///
    /// # Errors
    /// The value comes back when the channel was closed before, or when [`MAX_WAITERS`] puts wait.
    pub fn put(&self, value: T) -> Result<(), PutError<T>> {
        self.put_until(value, Deadline::NEVER)
            .map_err(|error| match error {
                PutUntilError::Put(error) => error,
                PutUntilError::TimedOut(_) => {
                    unreachable!("a deadline that never comes has passed")
                }
            })
    }

    /// Puts, waiting until `deadline`; one in the past tries once.
    ///
    /// # Errors
    /// As [`Channel::put`], and when the deadline passes first.
    pub fn put_until(&self, value: T, deadline: Deadline) -> Result<(), PutUntilError<T>> {
        let mut effects = Effects::new();
        let mut state = self.0.lock();
        let attempt = state.put_now(value, None, &mut effects);
        let Attempt::NotAble(value) = attempt else {
            drop(state);
            effects.run();
            let Attempt::Done(Err(value)) = attempt else {
                return Ok(());
            };
            return Err(PutUntilError::Put(PutError::Closed(Some(value))));
        };
        if clock::has_passed(deadline) {
            return Err(PutUntilError::TimedOut(value));
        }
        let parker = Parker::new();
        let operation = Operation::new(Notify::Thread(parker.unparker()));
        state
            .wait_to_put(&operation, 0, value)
            .map_err(|value| PutUntilError::Put(PutError::TooManyWaiters(value)))?;
        drop(state);
        match wait(&parker, &operation, deadline) {
            Some(committed) if !committed.refused => Ok(()),
            ended => {
                let value = self.0.lock().withdraw_put(&operation, 0);
                let value = value.expect("nobody else removes a put that is over");
                Err(match ended {
                    Some(_) => PutUntilError::Put(PutError::Closed(Some(value))),
                    None => PutUntilError::TimedOut(value),
                })
            }
        }
    }

    /// Takes, waiting for a value.
    ///
    /// # Errors
    /// When the channel is closed and empty, or when [`MAX_WAITERS`] takes wait.
    pub fn take(&self) -> Result<T, TakeError> {
        self.take_until(Deadline::NEVER)
            .map_err(|error| match error {
                TakeUntilError::Take(error) => error,
                TakeUntilError::TimedOut => unreachable!("a deadline that never comes has passed"),
            })
    }

    /// Takes, waiting until `deadline`; one in the past tries once.
    ///
    /// # Errors
    /// As [`Channel::take`], and when the deadline passes first.
    pub fn take_until(&self, deadline: Deadline) -> Result<T, TakeUntilError> {
        let mut effects = Effects::new();
        let mut state = self.0.lock();
        if let Attempt::Done(value) = state.take_now(None, &mut effects) {
            drop(state);
            effects.run();
            return value.ok_or(TakeUntilError::Take(TakeError::Closed));
        }
        if clock::has_passed(deadline) {
            return Err(TakeUntilError::TimedOut);
        }
        let parker = Parker::new();
        let operation = Operation::new(Notify::Thread(parker.unparker()));
        let hand = Arc::new(Hand::new());
        if !state.wait_to_take(&operation, 0, &hand) {
            return Err(TakeUntilError::Take(TakeError::TooManyWaiters));
        }
        drop(state);
        match wait(&parker, &operation, deadline) {
            Some(_) => hand.value().ok_or(TakeUntilError::Take(TakeError::Closed)),
            None => {
                self.0.lock().withdraw_take(&operation, 0);
                Err(TakeUntilError::TimedOut)
            }
        }
    }

    /// Puts without waiting.
    pub fn offer(&self, value: T) -> Offered<T> {
        let mut effects = Effects::new();
        let attempt = self.0.lock().put_now(value, None, &mut effects);
        effects.run();
        match attempt {
            Attempt::Done(Ok(())) => Offered::Done,
            Attempt::Done(Err(value)) => Offered::Closed(value),
            Attempt::NotAble(value) | Attempt::Lost(value) => Offered::WouldWait(value),
        }
    }

    /// Takes without waiting.
    pub fn poll(&self) -> Polled<T> {
        let mut effects = Effects::new();
        let attempt = self.0.lock().take_now(None, &mut effects);
        effects.run();
        match attempt {
            Attempt::Done(Some(value)) => Polled::Done(value),
            Attempt::Done(None) => Polled::Closed,
            Attempt::NotAble(()) | Attempt::Lost(()) => Polled::WouldWait,
        }
    }

    /// Closes the channel; closing twice is harmless. Stored values and puts that already wait stay
    /// takeable (C6).
    pub fn close(&self) {
        let mut effects = Effects::new();
        self.0.lock().close(&mut effects);
        effects.run();
    }
}

/// Waits until another thread commits a clause, and says what; `None` when the deadline passed and the
/// request is withdrawn.
fn wait(parker: &Parker, operation: &Operation, deadline: Deadline) -> Option<Committed> {
    loop {
        if let Some(committed) = operation.committed() {
            return Some(committed);
        }
        if clock::has_passed(deadline) && operation.end() {
            return None;
        }
        trampoline::before_waiting();
        // Another thread may have committed between the two: then its token is here, or on its way.
        parker.park_until(deadline);
    }
}
