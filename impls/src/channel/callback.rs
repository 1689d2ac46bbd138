//! Puts and takes that answer a callback, as core.async's `put!` and `take!` (C11).

use flowmeter_harness::channel::{Offered, Polled, PutError, TakeError};

use super::design::{Deferred, Design};
use super::front::{Front, Quick};
use super::halves::{Consumer, Producer};
use super::handle::Handle;
use super::trampoline;

/// A design with puts and takes that answer a callback.
pub trait Calls: Design + 'static {
    /// Makes a put wait that answers a callback.
    ///
    /// # Errors
    /// Gives both back when the limit of waiting requests is reached (C7).
    fn put_later<F>(&mut self, value: Self::Value, then: F) -> Result<(), (Self::Value, F)>
    where
        F: FnOnce(Result<(), PutError<Self::Value>>) + Send + 'static;

    /// Makes a take wait that answers a callback.
    ///
    /// # Errors
    /// Gives the callback back when the limit of waiting requests is reached (C7).
    fn take_later<F>(&mut self, then: F) -> Result<(), F>
    where
        F: FnOnce(Result<Self::Value, TakeError>) + Send + 'static;
}

impl<D: Calls> Handle<D> {
    /// Puts, and calls `then` with the answer, outside any lock. If the put is able at once, `then` runs on this
    /// thread, otherwise on the thread that completes the put. If a callback panics, nothing else is affected.
    ///
    /// A callback should not wait, because it would hold up the thread that it runs on. While it waits in a blocking
    /// call of this library, the callbacks queued behind it run on a new thread, if the system has one left. While it
    /// waits by other means, such as a lock or `block_on`, they wait as well.
    pub fn put_then(
        &self,
        value: D::Value,
        then: impl FnOnce(Result<(), PutError<D::Value>>) + Send + 'static,
    ) {
        let value = match self.front.offer::<false>(value) {
            Quick::Done(()) => return trampoline::run(Box::new(move || then(Ok(())))),
            Quick::Unable(value) | Quick::Ask(value) => value,
        };
        let mut effects = D::Effects::new();
        let mut state = self.lock();
        let (answer, then) = match state.offer(value, &mut effects) {
            Offered::Done => (Ok(()), then),
            Offered::Closed(value) => (Err(PutError::Closed(Some(value))), then),
            Offered::WouldWait(value) => match state.put_later(value, then) {
                Ok(()) => return,
                Err((value, then)) => (Err(PutError::TooManyWaiters(value)), then),
            },
        };
        drop(state);
        effects.run();
        trampoline::run(Box::new(move || then(answer)));
    }

    /// Takes, and calls `then` with the answer, as [`Handle::put_then`].
    pub fn take_then(&self, then: impl FnOnce(Result<D::Value, TakeError>) + Send + 'static) {
        if let Quick::Done(value) = self.front.poll::<false>() {
            return trampoline::run(Box::new(move || then(Ok(value))));
        }
        let mut effects = D::Effects::new();
        let mut state = self.lock();
        let (answer, then) = match state.poll(&mut effects) {
            Polled::Done(value) => (Ok(value), then),
            Polled::Closed => (Err(TakeError::Closed), then),
            Polled::WouldWait => match state.take_later(then) {
                Ok(()) => return,
                Err(then) => (Err(TakeError::TooManyWaiters), then),
            },
        };
        drop(state);
        effects.run();
        trampoline::run(Box::new(move || then(answer)));
    }
}

impl<D: Calls> Producer<D> {
    /// As [`Handle::put_then`].
    pub fn put_then(
        &self,
        value: D::Value,
        then: impl FnOnce(Result<(), PutError<D::Value>>) + Send + 'static,
    ) {
        self.handle().put_then(value, then);
    }
}

impl<D: Calls> Consumer<D> {
    /// As [`Handle::take_then`].
    pub fn take_then(&self, then: impl FnOnce(Result<D::Value, TakeError>) + Send + 'static) {
        self.handle().take_then(then);
    }
}
