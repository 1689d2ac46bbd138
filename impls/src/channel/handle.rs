//! The handle of a channel of any design: core.async's channel.

use std::fmt;
use std::future::Future;

use flowmeter_harness::channel::{
    Buffer, Handler, Offered, Polled, PutError, PutUntilError, TakeError, TakeUntilError,
    Transform, TransformError,
};
use flowmeter_harness::sync::Deadline;

use super::design::{Deferred, Design};
use super::halves::{Consumer, Halves, Producer, split};
use super::transformed::Transformed;
use crate::sync::{Arc, LightMutex, LockPlace};

/// A channel: the one handle that puts, takes and closes. Clones are the same channel, and two handles compare by
/// identity (C13).
///
/// Handles are not counted, so only a close ends a channel. [`Handle::split`] and the families have halves that are
/// counted (C14).
pub struct Handle<D: Design> {
    pub(super) front: D::Front,
    pub(super) shared: Arc<Shared<D>>,
}

pub(super) struct Shared<D: Design> {
    /// Its place in the order in which an alts locks, in a design that locks several channels.
    pub(super) place: LockPlace,
    pub(super) halves: Halves,
    name: Option<Box<str>>,
    pub(super) state: LightMutex<D>,
}

impl<D: Design> Clone for Handle<D> {
    fn clone(&self) -> Self {
        Handle {
            front: self.front.clone(),
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<D: Design> PartialEq for Handle<D> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<D: Design> Eq for Handle<D> {}

impl<D: Design> fmt::Debug for Handle<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe("Channel", f)
    }
}

impl<D: Design> Handle<D> {
    /// A channel with that buffer.
    pub fn new(buffer: Buffer) -> Self {
        Handle::called(None, D::new(buffer, None))
    }

    /// A channel with a name, which its `Debug` shows.
    pub fn named(name: impl Into<Box<str>>, buffer: Buffer) -> Self {
        Handle::called(Some(name.into()), D::new(buffer, None))
    }

    /// A channel that answers every take, now and later, with its first value (B1). Values are cloned under the
    /// channel's lock. So neither `T::clone`, nor a drop while it unwinds, may use the channel.
    pub fn promise() -> Self
    where
        D::Value: Clone,
    {
        Handle::called(None, D::promise(D::Value::clone))
    }

    /// A channel that stores what the transform makes of the values that are put. If the transform panics on a value,
    /// `handler` may give another one instead.
    ///
    /// Both run under the channel's lock. Neither they, nor the drop of a value that they swallow, may use the channel:
    /// it would deadlock.
    ///
    /// # Errors
    /// [`TransformError::Unbuffered`] for a rendezvous.
    pub fn transformed(
        buffer: Buffer,
        transform: impl Transform<D::Value>,
        handler: impl Handler<D::Value>,
    ) -> Result<Self, TransformError> {
        let transformed = Transformed::new(buffer, transform, handler)?;
        let state = D::new(buffer, Some(transformed));
        Ok(Handle::called(None, state))
    }

    /// A new channel in halves. Dropping the last producer closes it, and dropping the last consumer disconnects it
    /// (C14).
    pub fn split(buffer: Buffer) -> (Producer<D>, Consumer<D>) {
        split(Handle::new(buffer))
    }

    pub(super) fn called(name: Option<Box<str>>, state: D) -> Self {
        Handle {
            front: state.front(),
            shared: Arc::new(Shared {
                place: LockPlace::fresh(),
                halves: Halves::new(),
                name,
                state: LightMutex::new(state),
            }),
        }
    }

    #[inline]
    #[track_caller]
    pub(super) fn lock(&self) -> D::Guard<'_> {
        D::lock(&self.shared.state)
    }

    /// Puts, waiting for room or for a taker.
    ///
    /// # Errors
    /// The value comes back when the channel was closed before, or when [`MAX_WAITERS`](super::design::MAX_WAITERS)
    /// puts wait.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn put(&self, value: D::Value) -> Result<(), PutError<D::Value>> {
        D::put(self, value)
    }

    /// Puts, waiting until `deadline`. With a deadline in the past it tries once.
    ///
    /// # Errors
    /// As [`Handle::put`], and when the deadline passes first.
    #[inline]
    pub fn put_until(
        &self,
        value: D::Value,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<D::Value>> {
        D::put_until(self, value, deadline)
    }

    /// [`Handle::put`] as a future.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn put_async(
        &self,
        value: D::Value,
    ) -> impl Future<Output = Result<(), PutError<D::Value>>> + Send {
        D::put_async(self, value)
    }

    /// Takes, waiting for a value.
    ///
    /// # Errors
    /// When the channel is closed and empty, or when [`MAX_WAITERS`](super::design::MAX_WAITERS) takes wait.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn take(&self) -> Result<D::Value, TakeError> {
        D::take(self)
    }

    /// Takes, waiting until `deadline`. With a deadline in the past it tries once.
    ///
    /// # Errors
    /// As [`Handle::take`], and when the deadline passes first.
    #[inline]
    pub fn take_until(&self, deadline: Deadline) -> Result<D::Value, TakeUntilError> {
        D::take_until(self, deadline)
    }

    /// [`Handle::take`] as a future.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn take_async(&self) -> impl Future<Output = Result<D::Value, TakeError>> + Send {
        D::take_async(self)
    }

    /// Puts without waiting.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn offer(&self, value: D::Value) -> Offered<D::Value> {
        D::try_put(self, value)
    }

    /// Takes without waiting.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn poll(&self) -> Polled<D::Value> {
        D::try_take(self)
    }

    /// Closes the channel. Closing twice is harmless. Stored values and the values of waiting puts can still be taken
    /// (C6).
    pub fn close(&self) {
        let mut effects = D::Effects::new();
        self.lock().close(&mut effects);
        effects.run();
    }

    /// Whether there is no other handle.
    pub(super) fn is_alone(&self) -> bool {
        Arc::strong_count(&self.shared) == 1
    }

    /// Closes the channel for good, because no consumer is left. Waiting and later puts are answered "closed", with
    /// their values, and stored values are dropped. It is called once.
    pub(super) fn disconnect(&self) {
        let mut effects = D::Effects::new();
        let transformed = self.lock().disconnect(&mut effects);
        effects.run();
        drop(transformed);
    }

    /// Whether the channel was closed. A closed channel stays closed.
    pub fn is_closed(&self) -> bool {
        self.shared.state.lock().is_closed()
    }

    /// The number of values stored at this moment, without those of waiting puts.
    pub fn len(&self) -> usize {
        self.lock().stored()
    }

    /// Whether nothing is stored at this moment.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of values there is room for: 0 in a rendezvous, `None` if there is no limit. A promise has room for
    /// one.
    pub fn capacity(&self) -> Option<usize> {
        self.shared.state.lock().capacity()
    }

    /// The name that the channel was given.
    pub fn name(&self) -> Option<&str> {
        self.shared.name.as_deref()
    }

    /// Writes `what`, the channel's name, if it has one, its fill level, and whether it is closed.
    pub(super) fn describe(&self, what: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(what)?;
        if let Some(name) = self.name() {
            write!(f, " {name:?}")?;
        }
        match self.capacity() {
            Some(capacity) => write!(f, " ({} of {capacity}", self.len())?,
            None => write!(f, " ({}", self.len())?,
        }
        f.write_str(if self.is_closed() { ", closed)" } else { ")" })
    }
}
