//! Many values in one call (C15). Each is put or taken as if by itself; what a design makes cheaper is those for which
//! nobody has to wait: it takes its lock once for all of them.

use std::collections::VecDeque;
use std::future::Future;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{BatchError, TakeError};

use super::halves::{Consumer, Handle, Producer};

/// A handle that puts and takes many values at once.
pub trait Batches: Handle {
    /// Takes up to `limit` values without waiting, appends them to `values`, and answers how many they were.
    ///
    /// # Errors
    /// [`TakeError::Closed`], when there was none and there will be none.
    fn take_there(&self, limit: usize, values: &mut Vec<Self::Value>) -> Result<usize, TakeError>;

    /// Puts values from the queue as long as none has to wait; the first that has comes out of it.
    ///
    /// # Errors
    /// [`BatchError::Closed`]; the value that met the close is back at the front of the queue.
    fn put_there(
        &self,
        values: &mut VecDeque<Self::Value>,
    ) -> Result<Option<Self::Value>, BatchError>;

    /// Takes up to `limit` values and appends them to `values`: waits for the first, and takes whatever else is there.
    /// Answers how many they were.
    ///
    /// # Errors
    /// As [`Handle::take`]; `values` is as it was.
    fn take_many(
        &self,
        limit: NonZeroUsize,
        values: &mut Vec<Self::Value>,
    ) -> Result<usize, TakeError> {
        let taken = self.take_there(limit.get(), values)?;
        if taken > 0 {
            return Ok(taken);
        }
        values.push(self.take()?);
        Ok(1 + take_further(self, limit, values))
    }

    /// [`Batches::take_many`] as a future; dropped while it is pending, it has taken nothing.
    ///
    /// # Errors
    /// As [`Batches::take_many`].
    fn take_many_async(
        &self,
        limit: NonZeroUsize,
        values: &mut Vec<Self::Value>,
    ) -> impl Future<Output = Result<usize, TakeError>> + Send {
        async move {
            let taken = self.take_there(limit.get(), values)?;
            if taken > 0 {
                return Ok(taken);
            }
            values.push(self.take_async().await?);
            Ok(1 + take_further(self, limit, values))
        }
    }

    /// Puts all values of the queue, first to last, waiting for room for each.
    ///
    /// # Errors
    /// [`BatchError`]; what was not put is left in the queue, in its order.
    fn put_many(&self, values: &mut VecDeque<Self::Value>) -> Result<(), BatchError> {
        while let Some(value) = self.put_there(values)? {
            self.put(value)
                .map_err(|refused| refused.back_into(values))?;
        }
        Ok(())
    }

    /// [`Batches::put_many`] as a future. Dropped while it is pending, it has put what is no longer in the queue, but for
    /// the one value that it waited with, which is dropped.
    ///
    /// # Errors
    /// As [`Batches::put_many`].
    fn put_many_async(
        &self,
        values: &mut VecDeque<Self::Value>,
    ) -> impl Future<Output = Result<(), BatchError>> + Send {
        async move {
            while let Some(value) = self.put_there(values)? {
                self.put_async(value)
                    .await
                    .map_err(|refused| refused.back_into(values))?;
            }
            Ok(())
        }
    }
}

/// Takes what is there beside the first, which a batch has waited for. A channel that is closed says so next time.
fn take_further<H: Batches>(handle: &H, limit: NonZeroUsize, values: &mut Vec<H::Value>) -> usize {
    handle.take_there(limit.get() - 1, values).unwrap_or(0)
}

impl<H: Batches> Consumer<H> {
    /// As [`Batches::take_many`].
    ///
    /// # Errors
    /// [`TakeError`]; `values` is as it was.
    pub fn take_many(
        &self,
        limit: NonZeroUsize,
        values: &mut Vec<H::Value>,
    ) -> Result<usize, TakeError> {
        self.handle().take_many(limit, values)
    }

    /// As [`Batches::take_many_async`].
    ///
    /// # Errors
    /// [`TakeError`]; `values` is as it was.
    pub fn take_many_async(
        &self,
        limit: NonZeroUsize,
        values: &mut Vec<H::Value>,
    ) -> impl Future<Output = Result<usize, TakeError>> + Send {
        self.handle().take_many_async(limit, values)
    }
}

impl<H: Batches> Producer<H> {
    /// As [`Batches::put_many`].
    ///
    /// # Errors
    /// [`BatchError`]; what was not put is left in the queue, in its order.
    pub fn put_many(&self, values: &mut VecDeque<H::Value>) -> Result<(), BatchError> {
        self.handle().put_many(values)
    }

    /// As [`Batches::put_many_async`].
    ///
    /// # Errors
    /// [`BatchError`]; what was not put is left in the queue, in its order.
    pub fn put_many_async(
        &self,
        values: &mut VecDeque<H::Value>,
    ) -> impl Future<Output = Result<(), BatchError>> + Send {
        self.handle().put_many_async(values)
    }
}
