//! The half that sends.

use std::fmt;
use std::future::Future;
use std::time::{Duration, Instant};

use flowmeter_harness::channel::{MixedAlts, PutPort};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;
use flowmeter_impls::channel::lock_free::{LockFree, Producer, WeakProducer};
use flowmeter_impls::channel::{Offered, PutError, PutUntilError};

use crate::receiver::Receiver;
use crate::renamed::Renamed;
use crate::{SendError, SendTimeoutError, TrySendError};

/// Sends values. A clone sends into the same channel; when the last one is dropped, the channel is disconnected.
pub struct Sender<T: Send>(pub(crate) Producer<T>);

/// Names the channel of a [`Sender`] without keeping it connected.
pub struct WeakSender<T: Send>(WeakProducer<T>);

/// A channel without a limit of waiters refuses for one reason only, and always gives the value back.
#[cold]
fn refused<T>(error: PutError<T>) -> SendError<T> {
    match error {
        PutError::Closed(Some(value)) => SendError(value),
        PutError::Closed(None) => unreachable!("these channels keep no refused value"),
        PutError::TooManyWaiters(_) => unreachable!("these channels limit no waiters"),
    }
}

/// `Duration::MAX`, and whatever ends after the clock does, never ends.
pub(crate) fn until(deadline: Instant) -> Deadline {
    clock::after(deadline.saturating_duration_since(Instant::now()))
}

impl<T: Send> Sender<T> {
    /// Sends a value, waiting for room. In a rendezvous it waits for a receiver.
    ///
    /// # Errors
    /// [`SendError`] if no receiver is left, at once or while it waits.
    #[inline]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.put(value).map_err(refused)
    }

    /// Sends a value without waiting.
    ///
    /// # Errors
    /// [`TrySendError`] if there is no room or no receiver left.
    #[inline]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        match self.0.offer(value) {
            Offered::Done => Ok(()),
            Offered::WouldWait(value) => Err(TrySendError::Full(value)),
            Offered::Closed(value) => Err(TrySendError::Disconnected(value)),
        }
    }

    /// Sends a value, waiting for room at most so long. `Duration::MAX` is for ever.
    ///
    /// # Errors
    /// [`SendTimeoutError`] if the time is over first, or no receiver is left.
    pub fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(value, clock::after(timeout))
    }

    /// Sends a value, waiting for room until then. If that moment has passed it tries once.
    ///
    /// # Errors
    /// As [`Sender::send_timeout`].
    pub fn send_deadline(&self, value: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_until(value, until(deadline))
    }

    fn send_until(&self, value: T, deadline: Deadline) -> Result<(), SendTimeoutError<T>> {
        self.0
            .put_until(value, deadline)
            .map_err(|error| match error {
                PutUntilError::TimedOut(value) => SendTimeoutError::Timeout(value),
                PutUntilError::Put(error) => refused(error).into(),
            })
    }

    /// [`Sender::send`] as a future. If it is dropped while it waits, the value is dropped unsent.
    ///
    /// It waits in place, so it is not `Unpin`: pin it for a `select!` of futures.
    ///
    /// # Errors
    /// As [`Sender::send`].
    #[inline]
    pub fn send_async(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> + Send {
        let put = self.0.put_async(value);
        Renamed::new(put, refused)
    }

    /// Whether both belong to one channel.
    pub fn same_channel(&self, other: &Sender<T>) -> bool {
        self.0 == other.0
    }

    /// A sender that does not keep the channel connected.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender(self.0.downgrade())
    }
}

impl<T: Send> WeakSender<T> {
    /// A sender, or `None` once the last one was dropped.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.0.upgrade().map(Sender)
    }
}

/// What both halves tell of their channel, and how they are shown.
macro_rules! tells {
    ($($Half:ident)*) => {$(
        impl<T: Send> $Half<T> {
            /// The number of values in the channel at this moment, without those of waiting senders.
            pub fn len(&self) -> usize {
                self.0.len()
            }

            /// Whether the channel has no value at this moment. A rendezvous has one only where a dropped receive gave it back.
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }

            /// Whether the channel has no room at this moment. A rendezvous never has room.
            pub fn is_full(&self) -> bool {
                // A value that a dropped receive gave back needs no room.
                self.capacity().is_some_and(|most| self.len() >= most)
            }

            /// The number of values there is room for: 0 in a rendezvous, `None` if there is no limit.
            pub fn capacity(&self) -> Option<usize> {
                self.0.capacity()
            }

            /// Whether no sender or no receiver is left. Values may be left.
            pub fn is_disconnected(&self) -> bool {
                self.0.is_closed()
            }

            /// The number of senders at this moment.
            pub fn sender_count(&self) -> usize {
                self.0.producers()
            }

            /// The number of receivers at this moment.
            pub fn receiver_count(&self) -> usize {
                self.0.consumers()
            }
        }

        impl<T: Send> Clone for $Half<T> {
            fn clone(&self) -> Self {
                $Half(self.0.clone())
            }
        }

        impl<T: Send> fmt::Debug for $Half<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Half))
                    .field("len", &self.len())
                    .field("capacity", &self.capacity())
                    .field("is_disconnected", &self.is_disconnected())
                    .finish()
            }
        }
    )*};
}

tells!(Sender Receiver);

impl<T: Send> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        WeakSender(self.0.clone())
    }
}

impl<T: Send> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakSender")
    }
}

/// In `alts!` and `select!`.
impl<T: Send + 'static> PutPort for Sender<T> {
    type Family = LockFree;
    type Message = T;

    fn put_clause(&self, slot: Option<T>) -> <LockFree as MixedAlts>::PutClause<'_, T> {
        self.0.put_clause(slot)
    }
}
