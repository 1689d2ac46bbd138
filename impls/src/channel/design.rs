//! The interface of the designs that have a [`Handle`] as their channel. What they share is written over it once:
//! handle and halves, batches, callbacks, permits.

use std::future::Future;
use std::ops::DerefMut;

use flowmeter_harness::channel::{
    Buffer, Offered, Polled, PutError, PutUntilError, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::front::Front;
use super::handle::Handle;
use super::transformed::Transformed;
use super::watchers::Watchers;
use crate::sync::LightMutex;

/// The most puts that may wait on one channel, and the most takes (C7). `Handle::split_unlimited` lifts it.
pub const MAX_WAITERS: usize = 1024;

/// The state of a channel, guarded by its lock: the stored values, the waiting requests, and the commits.
pub trait Core: Sized + Send {
    /// The message type of the channel. It may borrow: only callbacks, alts and families ask for more.
    type Value: Send;
    /// What a commit leaves to be done outside the lock.
    type Effects: Deferred;

    /// A channel with that buffer, which a transform may overfill (B2).
    fn new(buffer: Buffer, transformed: Option<Box<Transformed<Self::Value>>>) -> Self;

    /// A promise. `copy` is the value's `clone`, which is known only where the channel is made.
    fn promise(copy: fn(&Self::Value) -> Self::Value) -> Self;

    /// Commits a put if it is able: the channel is closed, a take waits, or there is room.
    fn offer(&mut self, value: Self::Value, effects: &mut Self::Effects) -> Offered<Self::Value>;

    /// Commits a take if it is able: there is a value, a put waits, or the channel is closed.
    fn poll(&mut self, effects: &mut Self::Effects) -> Polled<Self::Value>;

    /// Closes. Takes that wait for a value are answered.
    fn close(&mut self, effects: &mut Self::Effects);

    /// Closes for good, because the last consumer was dropped. Waiting puts are refused, and stored values are dropped
    /// (C14).
    ///
    /// The transform is not completed but returned, to be dropped outside the lock.
    #[must_use = "its drop is foreign code"]
    fn disconnect(&mut self, effects: &mut Self::Effects) -> Option<Box<Transformed<Self::Value>>>;

    /// Whether the channel was closed.
    fn is_closed(&self) -> bool;

    /// The number of values that can be taken, without those of waiting puts.
    fn stored(&self) -> usize;

    /// The capacity; `None` if there is no limit.
    fn capacity(&self) -> Option<usize>;

    /// The futures that wait for the close.
    fn watchers(&mut self) -> &mut Watchers;
}

/// A design: a core, and the operations over it.
pub trait Design: Core {
    /// The part that is used without the lock.
    type Front: Front<Self::Value>;
    /// The held lock.
    type Guard<'a>: DerefMut<Target = Self>
    where
        Self: 'a;
    /// A put that may have to wait.
    type PutFuture<'a>: Future<Output = Result<(), PutError<Self::Value>>> + Send
    where
        Self: 'a;
    /// A take that may have to wait.
    type TakeFuture<'a>: Future<Output = Result<Self::Value, TakeError>> + Send
    where
        Self: 'a;

    /// The part that is used without the lock.
    fn front(&self) -> Self::Front;

    /// Locks.
    fn lock(state: &LightMutex<Self>) -> Self::Guard<'_>;

    /// As [`Handle::put`].
    ///
    /// # Errors
    /// As there; so it is with those that follow.
    fn put(channel: &Handle<Self>, value: Self::Value) -> Result<(), PutError<Self::Value>> {
        Self::put_until(channel, value, Deadline::NEVER).map_err(untimed_put)
    }

    /// As [`Handle::put_until`].
    ///
    /// # Errors
    /// As there.
    fn put_until(
        channel: &Handle<Self>,
        value: Self::Value,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<Self::Value>>;

    /// As [`Handle::put_async`].
    fn put_async(channel: &Handle<Self>, value: Self::Value) -> Self::PutFuture<'_>;

    /// As [`Handle::take`].
    fn take(channel: &Handle<Self>) -> Result<Self::Value, TakeError> {
        Self::take_until(channel, Deadline::NEVER).map_err(untimed_take)
    }

    /// As [`Handle::take_until`].
    fn take_until(
        channel: &Handle<Self>,
        deadline: Deadline,
    ) -> Result<Self::Value, TakeUntilError>;

    /// As [`Handle::take_async`].
    fn take_async(channel: &Handle<Self>) -> Self::TakeFuture<'_>;

    /// As [`Handle::offer`].
    fn try_put(channel: &Handle<Self>, value: Self::Value) -> Offered<Self::Value> {
        let mut effects = Self::Effects::new();
        let answer = channel.lock().offer(value, &mut effects);
        effects.run();
        answer
    }

    /// As [`Handle::poll`].
    fn try_take(channel: &Handle<Self>) -> Polled<Self::Value> {
        let mut effects = Self::Effects::new();
        let answer = channel.lock().poll(&mut effects);
        effects.run();
        answer
    }
}

/// What a commit leaves to be done outside the lock: notifying waiting requests, and dropping values that a buffer
/// discards.
pub trait Deferred {
    /// Nothing yet.
    fn new() -> Self;

    /// Does it. Call it outside every lock. All notifications come before any value is dropped, because the drop of a
    /// value may panic.
    fn run(self);
}

/// The error of a put without a deadline.
pub(super) fn untimed_put<T>(error: PutUntilError<T>) -> PutError<T> {
    match error {
        PutUntilError::Put(error) => error,
        PutUntilError::TimedOut(_) => unreachable!("a deadline that never comes has passed"),
    }
}

/// The error of a take without a deadline.
pub(super) fn untimed_take(error: TakeUntilError) -> TakeError {
    match error {
        TakeUntilError::Take(error) => error,
        TakeUntilError::TimedOut => unreachable!("a deadline that never comes has passed"),
    }
}
