//! Producers and consumers over a shared handle (C14), for every design that has one.
//!
//! core.async's channel is one handle for everything, which nothing but a close ends. A half holds that handle and is
//! counted: the last producer dropped closes the channel, the last consumer dropped disconnects it. A weak producer
//! holds the handle and is not counted.
//!
//! Operations go straight to the handle; only making a half and dropping one touch the counts.

use std::fmt;
use std::future::Future;

use flowmeter_harness::channel::{
    Buffer, Message, Offered, Polled, PutError, PutUntilError, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::is_taken_apart;

/// How many halves a channel has. It stands beside the channel's state, behind the same pointer.
///
/// Every order is relaxed: what a half did it did under the channel's own lock, before it was counted out. Were the lock
/// that ends the channel taken before that, its holder would have read the count before it was written. What it did
/// without the lock, where a design has such a way, moved a word on that the close shuts by a read-modify-write: it came
/// before, and the close finds it, or it failed, and went to the lock.
#[derive(Debug)]
pub struct Halves {
    producers: AtomicUsize,
    consumers: AtomicUsize,
}

impl Halves {
    /// One producer and one consumer, whom [`split`] makes.
    pub(crate) fn new() -> Self {
        Halves {
            producers: AtomicUsize::new(1),
            consumers: AtomicUsize::new(1),
        }
    }
}

/// A handle of a channel that puts, takes and closes; clones are the same channel.
pub trait Handle: Clone + Send + Sync + 'static {
    /// What the channel carries.
    type Value: Message;

    /// A new channel that nobody has split, or `None` where the design has no such buffer.
    fn open(buffer: Buffer) -> Option<Self>;

    /// The counts of this channel's halves.
    fn halves(&self) -> &Halves;

    /// Puts, waiting for room or for a taker.
    ///
    /// # Errors
    /// [`PutError`]; the value comes back.
    fn put(&self, value: Self::Value) -> Result<(), PutError<Self::Value>>;

    /// Puts, waiting until `deadline`; one in the past tries once.
    ///
    /// # Errors
    /// [`PutUntilError`]; the value comes back.
    fn put_until(
        &self,
        value: Self::Value,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<Self::Value>>;

    /// Puts without waiting.
    fn offer(&self, value: Self::Value) -> Offered<Self::Value>;

    /// [`Handle::put`] as a future.
    fn put_async(
        &self,
        value: Self::Value,
    ) -> impl Future<Output = Result<(), PutError<Self::Value>>> + Send;

    /// Takes, waiting for a value.
    ///
    /// # Errors
    /// [`TakeError`].
    fn take(&self) -> Result<Self::Value, TakeError>;

    /// Takes, waiting until `deadline`; one in the past tries once.
    ///
    /// # Errors
    /// [`TakeUntilError`].
    fn take_until(&self, deadline: Deadline) -> Result<Self::Value, TakeUntilError>;

    /// Takes without waiting.
    fn poll(&self) -> Polled<Self::Value>;

    /// [`Handle::take`] as a future.
    fn take_async(&self) -> impl Future<Output = Result<Self::Value, TakeError>> + Send;

    /// Closes the channel; closing twice is harmless. What is stored, and puts that wait, stay takeable.
    fn close(&self);

    /// Whether it was closed; then it stays so.
    fn is_closed(&self) -> bool;

    /// How many values are stored; those of puts that wait are not.
    fn stored(&self) -> usize;

    /// How many values there is room for: 0 in a rendezvous, `None` where there is no limit. A promise has room for
    /// one.
    fn capacity(&self) -> Option<usize>;

    /// The name that it was given, for people.
    fn name(&self) -> Option<&str>;

    /// Closes the channel for good, since nobody is left to take: waiting and later puts are answered "closed", with
    /// their values, and what is stored is dropped. It is called once.
    fn disconnect(&self);
}

/// The halves of a new channel, which nobody has split before.
pub(crate) fn split<H: Handle>(handle: H) -> (Producer<H>, Consumer<H>) {
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
pub struct Producer<H: Handle>(H);

/// The half that takes. A clone is another consumer; the last one dropped disconnects the channel.
pub struct Consumer<H: Handle>(H);

/// Names a channel that it does not keep open.
pub struct WeakProducer<H: Handle>(H);

impl<H: Handle> Producer<H> {
    /// The channel's shared handle, which counts as no half.
    #[inline]
    pub fn handle(&self) -> &H {
        &self.0
    }

    /// As [`Handle::put`].
    ///
    /// # Errors
    /// [`PutError`]; the value comes back.
    #[inline]
    pub fn put(&self, value: H::Value) -> Result<(), PutError<H::Value>> {
        self.0.put(value)
    }

    /// As [`Handle::put_until`].
    ///
    /// # Errors
    /// [`PutUntilError`]; the value comes back.
    #[inline]
    pub fn put_until(
        &self,
        value: H::Value,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<H::Value>> {
        self.0.put_until(value, deadline)
    }

    /// As [`Handle::offer`].
    #[inline]
    pub fn offer(&self, value: H::Value) -> Offered<H::Value> {
        self.0.offer(value)
    }

    /// As [`Handle::put_async`].
    #[inline]
    pub fn put_async(
        &self,
        value: H::Value,
    ) -> impl Future<Output = Result<(), PutError<H::Value>>> + Send {
        self.0.put_async(value)
    }

    /// As [`Handle::close`].
    pub fn close(&self) {
        self.0.close();
    }

    /// A weak producer of the same channel.
    pub fn downgrade(&self) -> WeakProducer<H> {
        WeakProducer(self.0.clone())
    }
}

impl<H: Handle> Consumer<H> {
    /// The channel's shared handle, which counts as no half.
    #[inline]
    pub fn handle(&self) -> &H {
        &self.0
    }

    /// As [`Handle::take`].
    ///
    /// # Errors
    /// [`TakeError`].
    #[inline]
    pub fn take(&self) -> Result<H::Value, TakeError> {
        self.0.take()
    }

    /// As [`Handle::take_until`].
    ///
    /// # Errors
    /// [`TakeUntilError`].
    #[inline]
    pub fn take_until(&self, deadline: Deadline) -> Result<H::Value, TakeUntilError> {
        self.0.take_until(deadline)
    }

    /// As [`Handle::poll`].
    #[inline]
    pub fn poll(&self) -> Polled<H::Value> {
        self.0.poll()
    }

    /// As [`Handle::take_async`].
    #[inline]
    pub fn take_async(&self) -> impl Future<Output = Result<H::Value, TakeError>> + Send {
        self.0.take_async()
    }

    /// As [`Handle::close`].
    pub fn close(&self) {
        self.0.close();
    }
}

/// What a channel says of itself, whichever half is asked.
macro_rules! says {
    ($($half:ident)*) => {$(
        impl<H: Handle> $half<H> {
            /// Whether the channel was closed; then it stays so.
            pub fn is_closed(&self) -> bool {
                self.0.is_closed()
            }

            /// How many values are stored at this moment; those of puts that wait are not.
            pub fn len(&self) -> usize {
                self.0.stored()
            }

            /// Whether nothing is stored at this moment.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// How many values there is room for: 0 in a rendezvous, `None` where there is no limit.
            pub fn capacity(&self) -> Option<usize> {
                self.0.capacity()
            }

            /// The name that the channel was given.
            pub fn name(&self) -> Option<&str> {
                self.0.name()
            }
        }
    )*};
}

says!(Producer Consumer);

/// A channel's name, if it has one, how full it is, and whether it is closed.
pub(crate) fn describe<H: Handle>(
    what: &str,
    handle: &H,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_str(what)?;
    if let Some(name) = handle.name() {
        write!(f, " {name:?}")?;
    }
    match handle.capacity() {
        Some(capacity) => write!(f, " ({} of {capacity}", handle.stored())?,
        None => write!(f, " ({}", handle.stored())?,
    }
    f.write_str(if handle.is_closed() { ", closed)" } else { ")" })
}

impl<H: Handle> WeakProducer<H> {
    /// A producer, or `None` once the last one has been dropped.
    pub fn upgrade(&self) -> Option<Producer<H>> {
        let producers = &self.0.halves().producers;
        let one_more = |count| (count > 0).then(|| count + 1);
        producers
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()
            .map(|_| Producer(self.0.clone()))
    }
}

impl<H: Handle> Clone for Producer<H> {
    fn clone(&self) -> Self {
        let producers = &self.0.halves().producers;
        producers.fetch_add(1, Ordering::Relaxed);
        Producer(self.0.clone())
    }
}

impl<H: Handle> Clone for Consumer<H> {
    fn clone(&self) -> Self {
        let consumers = &self.0.halves().consumers;
        consumers.fetch_add(1, Ordering::Relaxed);
        Consumer(self.0.clone())
    }
}

impl<H: Handle> Clone for WeakProducer<H> {
    fn clone(&self) -> Self {
        WeakProducer(self.0.clone())
    }
}

impl<H: Handle> Drop for Producer<H> {
    fn drop(&mut self) {
        if is_taken_apart() {
            return;
        }
        let producers = &self.0.halves().producers;
        if producers.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.close();
        }
    }
}

impl<H: Handle> Drop for Consumer<H> {
    fn drop(&mut self) {
        if is_taken_apart() {
            return;
        }
        let consumers = &self.0.halves().consumers;
        if consumers.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.disconnect();
        }
    }
}

macro_rules! compared_by_identity {
    ($($half:ident)*) => {$(
        impl<H: Handle + PartialEq> PartialEq for $half<H> {
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }

        impl<H: Handle + Eq> Eq for $half<H> {}

        impl<H: Handle> fmt::Debug for $half<H> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                describe(stringify!($half), &self.0, f)
            }
        }
    )*};
}

compared_by_identity!(Producer Consumer WeakProducer);
