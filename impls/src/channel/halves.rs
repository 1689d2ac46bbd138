//! Producers and consumers over a shared handle (C14).
//!
//! core.async's channel is one handle for everything, and only a close ends it. A half holds that handle and is
//! counted: dropping the last producer closes the channel, and dropping the last consumer disconnects it. A weak
//! producer holds the handle and is not counted.
//!
//! Operations go directly to the handle. Only making and dropping a half touch the counts.

use std::fmt;
use std::future::Future;

use flowmeter_harness::channel::{
    Offered, Polled, PutError, PutUntilError, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::design::Design;
use super::handle::Handle;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::is_taken_apart;

/// The numbers of halves of a channel. They are allocated together with the channel's state.
///
/// Every order is relaxed. A half did its operations under the channel's lock, before it was counted out. If the lock
/// that ends the channel were taken before that, the final count would have been read before that half was counted out.
/// An operation without the lock, in a design that has some, moves a word on that the close shuts. Either it came first,
/// and the close finds its effect, or it failed and took the lock.
///
/// A half that reads that it is the last one, or the only handle, without counting itself out reads no older number than
/// that after the last one was made: only a handle makes another one, and its own drop comes after that.
#[derive(Debug)]
pub struct Halves {
    producers: AtomicUsize,
    consumers: AtomicUsize,
}

impl Halves {
    /// One producer and one consumer, as [`split`] makes them.
    pub(super) fn new() -> Self {
        Halves {
            producers: AtomicUsize::new(1),
            consumers: AtomicUsize::new(1),
        }
    }
}

/// The halves of a new channel, which was not split before.
pub(super) fn split<D: Design>(handle: Handle<D>) -> (Producer<D>, Consumer<D>) {
    (Producer(handle.clone()), Consumer(handle))
}

/// The half that puts. A clone is another producer; the last one dropped closes the channel.
///
/// It cannot take, nor can a consumer put:
///
/// ```compile_fail
/// # use flowmeter_impls::channel::{Buffer, mutex::Channel};
/// let (tx, _rx) = Channel::<u8>::split(Buffer::fixed(1));
/// tx.take();
/// ```
pub struct Producer<D: Design>(Handle<D>);

/// The half that takes. A clone is another consumer; the last one dropped disconnects the channel.
pub struct Consumer<D: Design>(Handle<D>);

/// A reference to a channel that does not keep it open.
pub struct WeakProducer<D: Design>(Handle<D>);

impl<D: Design> Producer<D> {
    /// The channel's shared handle, which counts as no half.
    #[inline]
    pub fn handle(&self) -> &Handle<D> {
        &self.0
    }

    /// As [`Handle::put`].
    ///
    /// # Errors
    /// [`PutError`]; the value comes back.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn put(&self, value: D::Value) -> Result<(), PutError<D::Value>> {
        self.0.put(value)
    }

    /// As [`Handle::put_until`].
    ///
    /// # Errors
    /// [`PutUntilError`]; the value comes back.
    #[inline]
    pub fn put_until(
        &self,
        value: D::Value,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<D::Value>> {
        self.0.put_until(value, deadline)
    }

    /// As [`Handle::offer`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn offer(&self, value: D::Value) -> Offered<D::Value> {
        self.0.offer(value)
    }

    /// As [`Handle::put_async`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn put_async(
        &self,
        value: D::Value,
    ) -> impl Future<Output = Result<(), PutError<D::Value>>> + Send {
        self.0.put_async(value)
    }

    /// As [`Handle::close`].
    pub fn close(&self) {
        self.0.close();
    }

    /// A weak producer of the same channel.
    pub fn downgrade(&self) -> WeakProducer<D> {
        WeakProducer(self.0.clone())
    }
}

impl<D: Design> Consumer<D> {
    /// The channel's shared handle, which counts as no half.
    #[inline]
    pub fn handle(&self) -> &Handle<D> {
        &self.0
    }

    /// As [`Handle::take`].
    ///
    /// # Errors
    /// [`TakeError`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn take(&self) -> Result<D::Value, TakeError> {
        self.0.take()
    }

    /// As [`Handle::take_until`].
    ///
    /// # Errors
    /// [`TakeUntilError`].
    #[inline]
    pub fn take_until(&self, deadline: Deadline) -> Result<D::Value, TakeUntilError> {
        self.0.take_until(deadline)
    }

    /// As [`Handle::poll`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn poll(&self) -> Polled<D::Value> {
        self.0.poll()
    }

    /// As [`Handle::take_async`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn take_async(&self) -> impl Future<Output = Result<D::Value, TakeError>> + Send {
        self.0.take_async()
    }

    /// As [`Handle::close`].
    pub fn close(&self) {
        self.0.close();
    }
}

/// The queries that both halves have.
macro_rules! says {
    ($($half:ident)*) => {$(
        impl<D: Design> $half<D> {
            /// Whether the channel was closed. A closed channel stays closed.
            pub fn is_closed(&self) -> bool {
                self.0.is_closed()
            }

            /// The number of values stored at this moment, without those of waiting puts.
            pub fn len(&self) -> usize {
                self.0.len()
            }

            /// Whether nothing is stored at this moment.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The number of values there is room for: 0 in a rendezvous, `None` if there is no limit.
            pub fn capacity(&self) -> Option<usize> {
                self.0.capacity()
            }

            /// The number of producers at this moment.
            pub fn producers(&self) -> usize {
                self.0.shared.halves.producers.load(Ordering::Relaxed)
            }

            /// The number of consumers at this moment.
            pub fn consumers(&self) -> usize {
                self.0.shared.halves.consumers.load(Ordering::Relaxed)
            }

            /// The name that the channel was given.
            pub fn name(&self) -> Option<&str> {
                self.0.name()
            }
        }
    )*};
}

says!(Producer Consumer);

impl<D: Design> WeakProducer<D> {
    /// A producer, or `None` if the last one was dropped.
    pub fn upgrade(&self) -> Option<Producer<D>> {
        let producers = &self.0.shared.halves.producers;
        let one_more = |count| (count > 0).then(|| count + 1);
        producers
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()
            .map(|_| Producer(self.0.clone()))
    }
}

impl<D: Design> Clone for Producer<D> {
    fn clone(&self) -> Self {
        let producers = &self.0.shared.halves.producers;
        producers.fetch_add(1, Ordering::Relaxed);
        Producer(self.0.clone())
    }
}

impl<D: Design> Clone for Consumer<D> {
    fn clone(&self) -> Self {
        let consumers = &self.0.shared.halves.consumers;
        consumers.fetch_add(1, Ordering::Relaxed);
        Consumer(self.0.clone())
    }
}

impl<D: Design> Clone for WeakProducer<D> {
    fn clone(&self) -> Self {
        WeakProducer(self.0.clone())
    }
}

/// A producer that is the only handle closes nothing: the last consumer disconnected the channel before it gave up its
/// handle, and a second close does nothing. A consumer that is the only handle does have work, because a put that waits
/// for its callback holds no handle.
impl<D: Design> Drop for Producer<D> {
    fn drop(&mut self) {
        if is_taken_apart() || self.0.is_alone() {
            return;
        }
        let producers = &self.0.shared.halves.producers;
        if producers.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.close();
        }
    }
}

impl<D: Design> Drop for Consumer<D> {
    fn drop(&mut self) {
        if is_taken_apart() {
            return;
        }
        let consumers = &self.0.shared.halves.consumers;
        // Only a consumer makes another consumer, so the last one stays the last.
        let is_last = consumers.load(Ordering::Relaxed) == 1;
        if is_last {
            consumers.store(0, Ordering::Relaxed);
        }
        if is_last || consumers.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.disconnect();
        }
    }
}

macro_rules! compared_by_identity {
    ($($half:ident)*) => {$(
        impl<D: Design> PartialEq for $half<D> {
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }

        impl<D: Design> Eq for $half<D> {}

        impl<D: Design> fmt::Debug for $half<D> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.describe(stringify!($half), f)
            }
        }
    )*};
}

compared_by_identity!(Producer Consumer WeakProducer);

#[cfg(test)]
mod tests {
    use crate::channel::Buffer;
    use crate::channel::mutex::Channel;

    #[test]
    fn halves_are_counted_down_to_none() {
        let (tx, rx) = Channel::<u8>::split(Buffer::fixed(1));
        let also = rx.clone();
        assert_eq!((tx.producers(), tx.consumers()), (1, 2));
        drop(rx);
        assert_eq!(tx.consumers(), 1);
        assert!(!tx.is_closed());
        drop(also);
        assert_eq!(tx.consumers(), 0);
        assert!(tx.is_closed());
    }
}
