//! The channel as what its halves share.

use std::future::Future;
use std::task::Waker;

use flowmeter_harness::channel::{
    Buffer, Message, Offered, Polled, PutError, PutUntilError, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::ChannelOver;
use super::effects::Effects;
use super::store::Store;
use crate::channel::halves::{self, Halves, Handle, split};
use crate::channel::watchers::{Watch, Watched};

impl<T: Message, S: Store<T>> ChannelOver<T, S> {
    /// A new channel in halves: the last producer dropped closes it, the last consumer dropped disconnects it (C14).
    pub fn split(buffer: Buffer) -> (halves::Producer<Self>, halves::Consumer<Self>) {
        split(ChannelOver::new(buffer))
    }
}

impl<T: Message, S: Store<T>> Handle for ChannelOver<T, S> {
    type Value = T;

    fn open(buffer: Buffer) -> Option<Self> {
        Some(ChannelOver::new(buffer))
    }
    #[inline]
    fn halves(&self) -> &Halves {
        &self.shared.halves
    }
    #[inline]
    fn put(&self, value: T) -> Result<(), PutError<T>> {
        ChannelOver::put(self, value)
    }
    #[inline]
    fn put_until(&self, value: T, deadline: Deadline) -> Result<(), PutUntilError<T>> {
        ChannelOver::put_until(self, value, deadline)
    }
    #[inline]
    fn offer(&self, value: T) -> Offered<T> {
        ChannelOver::offer(self, value)
    }
    #[inline]
    fn put_async(&self, value: T) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        ChannelOver::put_async(self, value)
    }
    #[inline]
    fn take(&self) -> Result<T, TakeError> {
        ChannelOver::take(self)
    }
    #[inline]
    fn take_until(&self, deadline: Deadline) -> Result<T, TakeUntilError> {
        ChannelOver::take_until(self, deadline)
    }
    #[inline]
    fn poll(&self) -> Polled<T> {
        ChannelOver::poll(self)
    }
    #[inline]
    fn take_async(&self) -> impl Future<Output = Result<T, TakeError>> + Send {
        ChannelOver::take_async(self)
    }
    #[inline]
    fn close(&self) {
        ChannelOver::close(self);
    }

    fn is_closed(&self) -> bool {
        self.shared.state.lock().closed
    }
    fn stored(&self) -> usize {
        self.lock().buffer.len()
    }
    fn capacity(&self) -> Option<usize> {
        self.shared.state.lock().buffer.capacity()
    }
    fn name(&self) -> Option<&str> {
        self.shared.name.as_deref()
    }

    fn disconnect(&self) {
        let mut effects = Effects::new();
        let transformed = self.lock().disconnect(&mut effects);
        effects.run();
        drop(transformed);
    }
}

impl<T: Message, S: Store<T>> Watch for ChannelOver<T, S> {
    fn watch(&self, seat: Option<u64>, waker: Waker) -> Watched {
        let mut state = self.shared.state.lock();
        match state.closed {
            true => {
                drop(state);
                Watched::Closed
            }
            false => state.watchers.seat(seat, waker),
        }
    }
    fn unwatch(&self, seat: u64) -> Option<Waker> {
        self.shared.state.lock().watchers.leave(seat)
    }
}
