//! The half that receives.

use std::future::Future;
use std::time::{Duration, Instant};

use flowmeter_harness::channel::{MixedAlts, TakePort};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;
use flowmeter_impls::channel::lock_free::{Consumer, LockFree};
use flowmeter_impls::channel::{Polled, TakeError, TakeUntilError};

use crate::renamed::Renamed;
use crate::sender::until;
use crate::{RecvError, RecvTimeoutError, TryRecvError};

/// Receives values. A clone receives from the same channel, and each value goes to one of them. When the last one is
/// dropped, the channel is disconnected, and the values in it are dropped.
pub struct Receiver<T: Send>(pub(crate) Consumer<T>);

/// A channel without a limit of waiters has one reason to answer nothing.
#[cold]
fn nothing(error: TakeError) -> RecvError {
    match error {
        TakeError::Closed => RecvError,
        TakeError::TooManyWaiters => unreachable!("these channels limit no waiters"),
    }
}

impl<T: Send> Receiver<T> {
    /// Receives a value, waiting for one.
    ///
    /// # Errors
    /// [`RecvError`] if the channel is empty and no sender is left, at once or while it waits.
    #[inline]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.0.take().map_err(nothing)
    }

    /// Receives a value without waiting.
    ///
    /// # Errors
    /// [`TryRecvError`] if there is none.
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match self.0.poll() {
            Polled::Done(value) => Ok(value),
            Polled::WouldWait => Err(TryRecvError::Empty),
            Polled::Closed => Err(TryRecvError::Disconnected),
        }
    }

    /// Receives a value, waiting at most so long. `Duration::MAX` is for ever.
    ///
    /// # Errors
    /// [`RecvTimeoutError`] if the time is over first, or the channel is empty and no sender is left.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(clock::after(timeout))
    }

    /// Receives a value, waiting until then. If that moment has passed it tries once.
    ///
    /// # Errors
    /// As [`Receiver::recv_timeout`].
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_until(until(deadline))
    }

    fn recv_until(&self, deadline: Deadline) -> Result<T, RecvTimeoutError> {
        self.0.take_until(deadline).map_err(|error| match error {
            TakeUntilError::TimedOut => RecvTimeoutError::Timeout,
            TakeUntilError::Take(error) => nothing(error).into(),
        })
    }

    /// [`Receiver::recv`] as a future. If it is dropped while it waits, no value is lost.
    ///
    /// It waits in place, so it is not `Unpin`: pin it for a `select!` of futures.
    ///
    /// # Errors
    /// As [`Receiver::recv`].
    #[inline]
    pub fn recv_async(&self) -> impl Future<Output = Result<T, RecvError>> + Send {
        let take = self.0.take_async();
        Renamed::new(take, nothing)
    }

    /// Whether both belong to one channel.
    pub fn same_channel(&self, other: &Receiver<T>) -> bool {
        self.0 == other.0
    }
}

/// In `alts!` and `select!`.
impl<T: Send + 'static> TakePort for Receiver<T> {
    type Family = LockFree;
    type Message = T;

    fn take_clause(&self) -> <LockFree as MixedAlts>::TakeClause<'_, T> {
        self.0.take_clause()
    }
}
