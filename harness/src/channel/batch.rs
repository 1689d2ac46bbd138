//! Many values in one call, each as if put or taken by itself (C15).

use std::collections::VecDeque;
use std::future::Future;
use std::num::NonZeroUsize;

use super::{Async, Blocking, Message, PutError, TakeError};

/// Why not all values of a batch were put. The others are left in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchError {
    /// The channel was closed, before the first put or between two. The refused value is back at the front of the
    /// queue, unless the crate swallows it ([`PutError::Closed`]).
    Closed,
    /// The limit of waiting puts is reached.
    TooManyWaiters,
}

/// Batches that block their thread.
pub trait Batch: Blocking {
    /// Takes up to `limit` values and appends them to `values`. Waits for the first one as [`Blocking::take`] does, and
    /// takes what else is available without waiting. Returns the number taken, at least one.
    ///
    /// They leave the channel in its order; other takers may take in between.
    ///
    /// # Errors
    /// [`TakeError`], as for the first take; `values` is as it was.
    fn take_many<T: Message>(
        rx: &mut Self::Rx<T>,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> Result<usize, TakeError>;

    /// Puts all values of the queue, first to last, each as by [`Blocking::put`]; others may put in between.
    ///
    /// # Errors
    /// [`BatchError`] at the first put that is refused; what was not put is left in the queue, in its order.
    fn put_many<T: Message>(
        tx: &mut Self::Tx<T>,
        values: &mut VecDeque<T>,
    ) -> Result<(), BatchError> {
        while let Some(value) = values.pop_front() {
            Self::put(tx, value).map_err(|refused| refused.back_into(values))?;
        }
        Ok(())
    }
}

/// Batches that are futures.
///
/// A batch is several operations, so a pending one that is dropped may have done some of them: values taken are in
/// `values`, and values put are no longer in the queue. The value of a pending put is dropped with the future.
pub trait AsyncBatch: Async {
    /// [`Batch::take_many`] as a future. It waits only for the first value. If it is dropped while pending, it has
    /// taken nothing where the family is [`CancelSafe`](crate::caps::Claim::CancelSafe).
    fn take_many_async<T: Message>(
        rx: &mut Self::Rx<T>,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> impl Future<Output = Result<usize, TakeError>> + Send;

    /// [`Batch::put_many`] as a future.
    fn put_many_async<T: Message>(
        tx: &mut Self::Tx<T>,
        values: &mut VecDeque<T>,
    ) -> impl Future<Output = Result<(), BatchError>> + Send {
        async move {
            while let Some(value) = values.pop_front() {
                Self::put_async(tx, value)
                    .await
                    .map_err(|refused| refused.back_into(values))?;
            }
            Ok(())
        }
    }
}

impl<T> PutError<T> {
    /// Returns the value to the front of the queue that it came from, and gives the reason as a [`BatchError`].
    pub fn back_into(self, values: &mut VecDeque<T>) -> BatchError {
        let (back, why) = match self {
            PutError::Closed(back) => (back, BatchError::Closed),
            PutError::TooManyWaiters(back) => (Some(back), BatchError::TooManyWaiters),
        };
        if let Some(value) = back {
            values.push_front(value);
        }
        why
    }
}
