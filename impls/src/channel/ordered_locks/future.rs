//! Puts and takes as futures. Dropping a pending one leaves it without effect, or gives the value it was
//! already handed back to the channel (C9).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{Offered, Polled, PutError, TakeError};

use crate::sync::Arc;

use super::ChannelOver;
use super::buffer::Buffer;
use super::effects::Effects;
use super::line::Party;
use super::state::{Handed, Put, Taken};
use super::store::{Front, Quick, Store};
use super::waiter::{Notify, Waiter};

/// A put that may have to wait. A value not yet put is dropped with it.
#[must_use = "a future does nothing unless it is polled"]
pub struct PutFuture<'a, T: Send + 'static, S: Store<T> = Buffer<T>> {
    channel: &'a ChannelOver<T, S>,
    /// Until the first poll.
    value: Option<T>,
    /// While it waits.
    waiter: Option<Arc<Waiter<Put<T>>>>,
}

/// A take that may have to wait.
#[must_use = "a future does nothing unless it is polled"]
pub struct TakeFuture<'a, T: Send + 'static, S: Store<T> = Buffer<T>> {
    channel: &'a ChannelOver<T, S>,
    stage: Stage<T>,
}

enum Stage<T> {
    Unpolled,
    Waiting(Arc<Waiter<Taken<T>>>),
    Done,
}

impl<T: Send + 'static, S: Store<T>> ChannelOver<T, S> {
    /// [`ChannelOver::put`] as a future.
    pub fn put_async(&self, value: T) -> PutFuture<'_, T, S> {
        PutFuture {
            channel: self,
            value: Some(value),
            waiter: None,
        }
    }

    /// [`ChannelOver::take`] as a future.
    pub fn take_async(&self) -> TakeFuture<'_, T, S> {
        TakeFuture {
            channel: self,
            stage: Stage::Unpolled,
        }
    }
}

impl<T: Send + 'static, S: Store<T>> PutFuture<'_, T, S> {
    fn begin(&mut self, value: T, waker: &Waker) -> Poll<Result<(), PutError<T>>> {
        let mut effects = Effects::new();
        let value = match self.channel.front.offer::<false>(value) {
            Quick::Done(()) => return Poll::Ready(Ok(())),
            Quick::Unable(value) | Quick::Ask(value) => value,
        };
        let mut answer = self.channel.lock().offer(value, &mut effects);
        if let Offered::WouldWait(value) = answer {
            // Made outside the lock: cloning a waker runs code of the executor.
            let waiter = Waiter::new(Notify::Task(waker.clone()));
            let mut state = self.channel.lock();
            answer = match state.offer(value, &mut effects) {
                Offered::WouldWait(value) if state.puts.is_full() => {
                    return Poll::Ready(Err(PutError::TooManyWaiters(value)));
                }
                Offered::WouldWait(value) => {
                    let party = Party::Single(Arc::clone(&waiter));
                    state.puts.join(party, Some(value));
                    self.waiter = Some(waiter);
                    return Poll::Pending;
                }
                answer => answer,
            };
        }
        effects.run();
        Poll::Ready(match answer {
            Offered::Done => Ok(()),
            Offered::Closed(value) => Err(PutError::Closed(Some(value))),
            Offered::WouldWait(_) => unreachable!("told apart above"),
        })
    }
}

// The value is never pinned: it is moved into the channel.
impl<T: Send + 'static, S: Store<T>> Unpin for PutFuture<'_, T, S> {}

impl<T: Send + 'static, S: Store<T>> Future for PutFuture<'_, T, S> {
    type Output = Result<(), PutError<T>>;

    /// # Panics
    /// When it is polled after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(value) = self.value.take() {
            return self.begin(value, context.waker());
        }
        let waiter = self
            .waiter
            .as_ref()
            .expect("a put was polled after it was ready");
        match waiter.fetch_or_wake(context.waker()) {
            None => Poll::Pending,
            Some(put) => {
                self.waiter = None;
                Poll::Ready(put.map_err(PutError::Closed))
            }
        }
    }
}

impl<T: Send + 'static, S: Store<T>> Drop for PutFuture<'_, T, S> {
    fn drop(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            let value = self.channel.lock().puts.leave(&waiter);
            // Outside the lock: a value's own drop may use the channel.
            drop(value);
        }
    }
}

impl<T: Send + 'static, S: Store<T>> TakeFuture<'_, T, S> {
    fn begin(&mut self, waker: &Waker) -> Poll<Result<T, TakeError>> {
        let mut effects = Effects::new();
        if let Quick::Done(value) = self.channel.front.poll::<false>() {
            self.stage = Stage::Done;
            return Poll::Ready(Ok(value));
        }
        let mut answer = self.channel.lock().poll(&mut effects);
        if let Polled::WouldWait = answer {
            // Made outside the lock: cloning a waker runs code of the executor.
            let waiter = Waiter::new(Notify::Task(waker.clone()));
            let mut state = self.channel.lock();
            answer = match state.poll(&mut effects) {
                Polled::WouldWait if state.takes.is_full() => {
                    self.stage = Stage::Done;
                    return Poll::Ready(Err(TakeError::TooManyWaiters));
                }
                Polled::WouldWait => {
                    state.takes.join(Party::Single(Arc::clone(&waiter)), ());
                    self.stage = Stage::Waiting(waiter);
                    return Poll::Pending;
                }
                answer => answer,
            };
        }
        effects.run();
        self.stage = Stage::Done;
        Poll::Ready(match answer {
            Polled::Done(value) => Ok(value),
            Polled::Closed => Err(TakeError::Closed),
            Polled::WouldWait => unreachable!("told apart above"),
        })
    }
}

impl<T: Send + 'static, S: Store<T>> Future for TakeFuture<'_, T, S> {
    type Output = Result<T, TakeError>;

    /// # Panics
    /// When it is polled after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let waiter = match &self.stage {
            Stage::Unpolled => return self.begin(context.waker()),
            Stage::Waiting(waiter) => waiter,
            Stage::Done => panic!("a take was polled after it was ready"),
        };
        match waiter.fetch_or_wake(context.waker()) {
            None => Poll::Pending,
            Some(taken) => {
                self.stage = Stage::Done;
                let value = taken.map(|Handed { value, .. }| value);
                Poll::Ready(value.ok_or(TakeError::Closed))
            }
        }
    }
}

impl<T: Send + 'static, S: Store<T>> Drop for TakeFuture<'_, T, S> {
    fn drop(&mut self) {
        let Stage::Waiting(waiter) = std::mem::replace(&mut self.stage, Stage::Done) else {
            return;
        };
        let mut effects = Effects::new();
        let mut state = self.channel.lock();
        if state.takes.leave(&waiter).is_none()
            && let Some(Some(handed)) = waiter.fetch()
        {
            state.give_back(handed, &mut effects);
        }
        drop(state);
        effects.run();
    }
}

impl<T: Send + 'static, S: Store<T>> fmt::Debug for PutFuture<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PutFuture")
    }
}

impl<T: Send + 'static, S: Store<T>> fmt::Debug for TakeFuture<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TakeFuture")
    }
}
