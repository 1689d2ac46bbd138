//! The channel as what its halves share.

use std::future::Future;
use std::task::Waker;

use flowmeter_harness::channel::{
    Buffer, Message, Offered, Polled, PutError, PutUntilError, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::Channel;
use super::effects::Effects;
use crate::channel::halves::{self, Halves, Handle, split};
use crate::channel::watchers::{Watch, Watched};

/// The half that puts.
pub type Producer<T> = halves::Producer<Channel<T>>;
/// The half that takes.
pub type Consumer<T> = halves::Consumer<Channel<T>>;
/// A producer that keeps nothing open.
pub type WeakProducer<T> = halves::WeakProducer<Channel<T>>;

impl<T: Message> Channel<T> {
    /// A new channel in halves: the last producer dropped closes it, the last consumer dropped disconnects it (C14).
    pub fn split(buffer: Buffer) -> (Producer<T>, Consumer<T>) {
        split(Channel::new(buffer))
    }
}

impl<T: Message> Handle for Channel<T> {
    type Value = T;

    fn open(buffer: Buffer) -> Option<Self> {
        Some(Channel::new(buffer))
    }
    #[inline]
    fn halves(&self) -> &Halves {
        &self.0.halves
    }
    #[inline]
    fn put(&self, value: T) -> Result<(), PutError<T>> {
        Channel::put(self, value)
    }
    #[inline]
    fn put_until(&self, value: T, deadline: Deadline) -> Result<(), PutUntilError<T>> {
        Channel::put_until(self, value, deadline)
    }
    #[inline]
    fn offer(&self, value: T) -> Offered<T> {
        Channel::offer(self, value)
    }
    #[inline]
    fn put_async(&self, value: T) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        Channel::put_async(self, value)
    }
    #[inline]
    fn take(&self) -> Result<T, TakeError> {
        Channel::take(self)
    }
    #[inline]
    fn take_until(&self, deadline: Deadline) -> Result<T, TakeUntilError> {
        Channel::take_until(self, deadline)
    }
    #[inline]
    fn poll(&self) -> Polled<T> {
        Channel::poll(self)
    }
    #[inline]
    fn take_async(&self) -> impl Future<Output = Result<T, TakeError>> + Send {
        Channel::take_async(self)
    }
    #[inline]
    fn close(&self) {
        Channel::close(self);
    }

    fn is_closed(&self) -> bool {
        self.0.lock().closed
    }
    fn stored(&self) -> usize {
        self.0.lock().len()
    }
    fn capacity(&self) -> Option<usize> {
        self.0.lock().store.capacity()
    }
    fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    fn disconnect(&self) {
        let mut effects = Effects::new();
        let transformed = self.0.lock().disconnect(&mut effects);
        effects.run();
        drop(transformed);
    }
}

impl<T: Message> Watch for Channel<T> {
    fn watch(&self, seat: Option<u64>, waker: Waker) -> Watched {
        let mut state = self.0.lock();
        match state.closed {
            true => {
                drop(state);
                Watched::Closed
            }
            false => state.watchers.seat(seat, waker),
        }
    }
    fn unwatch(&self, seat: u64) -> Option<Waker> {
        self.0.lock().watchers.leave(seat)
    }
}
