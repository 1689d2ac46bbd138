//! Many values in one call (C15). Each is put or taken as if by itself; what a design makes cheaper is those for which
//! nobody has to wait: it takes its lock once for all of them.

use std::collections::VecDeque;
use std::future::Future;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{BatchError, Offered, Polled, TakeError};

use super::design::{Deferred, Design};
use super::halves::{Consumer, Producer};
use super::handle::Handle;

impl<D: Design> Handle<D> {
    /// Takes up to `limit` values without waiting, appends them to `values`, and answers how many they were. Those who
    /// are woken hear of it together.
    ///
    /// # Errors
    /// [`TakeError::Closed`], when there was none and there will be none.
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

    /// Puts values from the queue as long as none has to wait; the first that has comes out of it.
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

    /// Takes what is there beside the first, which a batch has waited for. A channel that is closed says so next time.
    fn take_further(&self, limit: NonZeroUsize, values: &mut Vec<D::Value>) -> usize {
        self.take_there(limit.get() - 1, values).unwrap_or(0)
    }

    /// Takes up to `limit` values and appends them to `values`: waits for the first, and takes whatever else is there.
    /// Answers how many they were.
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

    /// [`Handle::put_many`] as a future. Dropped while it is pending, it has put what is no longer in the queue, but for
    /// the one value that it waited with, which is dropped.
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
