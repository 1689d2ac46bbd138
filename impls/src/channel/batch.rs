//! Many values in one call (C15). Each is put or taken as if by itself. A batch takes the channel's lock once for all
//! values that need no waiting.

use std::collections::VecDeque;
use std::future::Future;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{BatchError, Offered, Polled, TakeError};

use super::design::{Deferred, Design};
use super::halves::{Consumer, Producer};
use super::handle::Handle;

impl<D: Design> Handle<D> {
    /// Takes up to `limit` values without waiting, appends them to `values`, and returns their number. The puts that
    /// this completes are woken together at the end.
    ///
    /// # Errors
    /// [`TakeError::Closed`], when there was no value and there will be none.
    fn take_there(&self, limit: usize, values: &mut Vec<D::Value>) -> Result<usize, TakeError> {
        let mut effects = D::Effects::new();
        let mut state = self.lock();
        let mut taken = 0;
        let mut end = Ok(());
        while taken < limit {
            match state.poll(&mut effects) {
                Polled::Done(value) => values.push(value),
                Polled::WouldWait => break,
                Polled::Closed => {
                    end = Err(TakeError::Closed);
                    break;
                }
            }
            taken += 1;
        }
        drop(state);
        effects.run();
        if taken > 0 {
            return Ok(taken);
        }
        end.map(|()| 0)
    }

    /// Puts values from the queue without waiting. Returns the first value that would have to wait, which is no longer
    /// in the queue.
    ///
    /// # Errors
    /// [`BatchError::Closed`]; the value that met the close is back at the front of the queue.
    fn put_there(&self, values: &mut VecDeque<D::Value>) -> Result<Option<D::Value>, BatchError> {
        let mut effects = D::Effects::new();
        let mut state = self.lock();
        let mut answer = Ok(None);
        while let Some(value) = values.pop_front() {
            match state.offer(value, &mut effects) {
                Offered::Done => {}
                Offered::Closed(value) => {
                    values.push_front(value);
                    answer = Err(BatchError::Closed);
                    break;
                }
                Offered::WouldWait(value) => {
                    answer = Ok(Some(value));
                    break;
                }
            }
        }
        drop(state);
        effects.run();
        answer
    }

    /// Takes what is there after the first value, for which the batch has waited. If the channel is closed, the next
    /// call says so.
    fn take_further(&self, limit: NonZeroUsize, values: &mut Vec<D::Value>) -> usize {
        self.take_there(limit.get() - 1, values).unwrap_or(0)
    }

    /// Takes up to `limit` values and appends them to `values`. Waits for the first, and takes the others that are
    /// there. Returns their number.
    ///
    /// # Errors
    /// As [`Handle::take`]; `values` is as it was.
    pub fn take_many(
        &self,
        limit: NonZeroUsize,
        values: &mut Vec<D::Value>,
    ) -> Result<usize, TakeError> {
        let taken = self.take_there(limit.get(), values)?;
        if taken > 0 {
            return Ok(taken);
        }
        values.push(self.take()?);
        Ok(1 + self.take_further(limit, values))
    }

    /// [`Handle::take_many`] as a future; dropped while it is pending, it has taken nothing.
    ///
    /// # Errors
    /// As [`Handle::take_many`].
    pub async fn take_many_async(
        &self,
        limit: NonZeroUsize,
        values: &mut Vec<D::Value>,
    ) -> Result<usize, TakeError> {
        let taken = self.take_there(limit.get(), values)?;
        if taken > 0 {
            return Ok(taken);
        }
        values.push(self.take_async().await?);
        Ok(1 + self.take_further(limit, values))
    }

    /// Puts all values of the queue, first to last, waiting for room for each.
    ///
    /// # Errors
    /// [`BatchError`]; what was not put is left in the queue, in its order.
    pub fn put_many(&self, values: &mut VecDeque<D::Value>) -> Result<(), BatchError> {
        while let Some(value) = self.put_there(values)? {
            self.put(value)
                .map_err(|refused| refused.back_into(values))?;
        }
        Ok(())
    }

    /// [`Handle::put_many`] as a future. If it is dropped while pending, all values that are no longer in the queue
    /// were put, except the one that it waited with, which is dropped.
    ///
    /// # Errors
    /// As [`Handle::put_many`].
    pub async fn put_many_async(&self, values: &mut VecDeque<D::Value>) -> Result<(), BatchError> {
        while let Some(value) = self.put_there(values)? {
            self.put_async(value)
                .await
                .map_err(|refused| refused.back_into(values))?;
        }
        Ok(())
    }
}

impl<D: Design> Consumer<D> {
    /// As [`Handle::take_many`].
    ///
    /// # Errors
    /// [`TakeError`]; `values` is as it was.
    pub fn take_many(
        &self,
        limit: NonZeroUsize,
        values: &mut Vec<D::Value>,
    ) -> Result<usize, TakeError> {
        self.handle().take_many(limit, values)
    }

    /// As [`Handle::take_many_async`].
    ///
    /// # Errors
    /// [`TakeError`]; `values` is as it was.
    pub fn take_many_async(
        &self,
        limit: NonZeroUsize,
        values: &mut Vec<D::Value>,
    ) -> impl Future<Output = Result<usize, TakeError>> + Send {
        self.handle().take_many_async(limit, values)
    }
}

impl<D: Design> Producer<D> {
    /// As [`Handle::put_many`].
    ///
    /// # Errors
    /// [`BatchError`]; what was not put is left in the queue, in its order.
    pub fn put_many(&self, values: &mut VecDeque<D::Value>) -> Result<(), BatchError> {
        self.handle().put_many(values)
    }

    /// As [`Handle::put_many_async`].
    ///
    /// # Errors
    /// [`BatchError`]; what was not put is left in the queue, in its order.
    pub fn put_many_async(
        &self,
        values: &mut VecDeque<D::Value>,
    ) -> impl Future<Output = Result<(), BatchError>> + Send {
        self.handle().put_many_async(values)
    }
}
