//! Puts and takes as futures. Dropping a pending one leaves it without effect. If it was already handed a value, the
//! value goes back to the channel (C9).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{PutError, TakeError};

use crate::sync::Arc;

use super::Channel;
use super::effects::Effects;
use super::hand::{Hand, Handed};
use super::operation::{Notify, Operation};
use super::state::Attempt;
use crate::channel::by_name::debug_by_name;
use crate::channel::design::Deferred;

/// A put that may have to wait. A value not yet put is dropped with it.
#[must_use = "a future does nothing unless it is polled"]
pub struct PutFuture<'a, T: Send + 'static> {
    channel: &'a Channel<T>,
    /// Until the first poll.
    value: Option<T>,
    /// While it waits.
    operation: Option<Arc<Operation>>,
}

/// A take that may have to wait.
#[must_use = "a future does nothing unless it is polled"]
pub struct TakeFuture<'a, T: Send + 'static> {
    channel: &'a Channel<T>,
    stage: Stage<T>,
}

enum Stage<T> {
    Unpolled,
    Waiting(Arc<Operation>, Arc<Hand<T>>),
    Done,
}

impl<'a, T: Send + 'static> PutFuture<'a, T> {
    pub(super) fn new(channel: &'a Channel<T>, value: T) -> Self {
        PutFuture {
            channel,
            value: Some(value),
            operation: None,
        }
    }

    fn begin(&mut self, value: T, waker: &Waker) -> Poll<Result<(), PutError<T>>> {
        let mut effects = Effects::new();
        let mut attempt = self.channel.lock().put_now(value, None, &mut effects);
        if let Attempt::NotAble(value) | Attempt::Lost(value) = attempt {
            // Made outside the lock, because cloning a waker runs code of the executor.
            let operation = Operation::new(Notify::Task(waker.clone()));
            let mut state = self.channel.lock();
            attempt = state.put_now(value, None, &mut effects);
            if let Attempt::NotAble(value) | Attempt::Lost(value) = attempt {
                return match state.wait_to_put(&operation, 0, value) {
                    Ok(()) => {
                        self.operation = Some(operation);
                        Poll::Pending
                    }
                    Err(value) => Poll::Ready(Err(PutError::TooManyWaiters(value))),
                };
            }
        }
        effects.run();
        Poll::Ready(match attempt {
            Attempt::Done(Err(value)) => Err(PutError::Closed(Some(value))),
            _ => Ok(()),
        })
    }
}

// The value is never pinned: it is moved into the channel.
impl<T: Send + 'static> Unpin for PutFuture<'_, T> {}

impl<T: Send + 'static> Future for PutFuture<'_, T> {
    type Output = Result<(), PutError<T>>;

    /// # Panics
    /// When it is polled after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(value) = self.value.take() {
            return self.begin(value, context.waker());
        }
        let operation = self
            .operation
            .as_ref()
            .expect("a put was polled after it was ready");
        match operation.committed_or_wake(context.waker()) {
            None => Poll::Pending,
            Some(committed) => {
                let operation = self.operation.take();
                Poll::Ready(match operation {
                    Some(operation) if committed.refused => {
                        let value = self.channel.lock().withdraw_put(&operation, 0);
                        Err(PutError::Closed(value))
                    }
                    _ => Ok(()),
                })
            }
        }
    }
}

impl<T: Send + 'static> Drop for PutFuture<'_, T> {
    fn drop(&mut self) {
        let Some(operation) = self.operation.take() else {
            return;
        };
        // If another thread has refused the put and it was not polled since, its value is still in the channel.
        let refused = || operation.committed().is_some_and(|end| end.refused);
        if operation.end() || refused() {
            let value = self.channel.lock().withdraw_put(&operation, 0);
            // Outside the lock, because the drop of a value may use the channel.
            drop(value);
        }
    }
}

impl<'a, T: Send + 'static> TakeFuture<'a, T> {
    pub(super) fn new(channel: &'a Channel<T>) -> Self {
        TakeFuture {
            channel,
            stage: Stage::Unpolled,
        }
    }

    fn begin(&mut self, waker: &Waker) -> Poll<Result<T, TakeError>> {
        // Also where it panics.
        self.stage = Stage::Done;
        let mut effects = Effects::new();
        let mut attempt = self.channel.lock().take_now(None, &mut effects);
        if !matches!(attempt, Attempt::Done(_)) {
            // Made outside the lock, because cloning a waker runs code of the executor.
            let operation = Operation::new(Notify::Task(waker.clone()));
            let hand = Arc::new(Hand::new());
            let mut state = self.channel.lock();
            attempt = state.take_now(None, &mut effects);
            if !matches!(attempt, Attempt::Done(_)) {
                if !state.wait_to_take(&operation, 0, &hand) {
                    return Poll::Ready(Err(TakeError::TooManyWaiters));
                }
                self.stage = Stage::Waiting(operation, hand);
                return Poll::Pending;
            }
        }
        effects.run();
        match attempt {
            Attempt::Done(value) => Poll::Ready(value.ok_or(TakeError::Closed)),
            Attempt::NotAble(()) | Attempt::Lost(()) => unreachable!("told apart above"),
        }
    }
}

impl<T: Send + 'static> Future for TakeFuture<'_, T> {
    type Output = Result<T, TakeError>;

    /// # Panics
    /// When it is polled after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (operation, hand) = match &self.stage {
            Stage::Unpolled => return self.begin(context.waker()),
            Stage::Waiting(operation, hand) => (operation, hand),
            Stage::Done => panic!("a take was polled after it was ready"),
        };
        match operation.committed_or_wake(context.waker()) {
            None => Poll::Pending,
            Some(_) => {
                let value = hand.value();
                self.stage = Stage::Done;
                Poll::Ready(value.ok_or(TakeError::Closed))
            }
        }
    }
}

impl<T: Send + 'static> Drop for TakeFuture<'_, T> {
    fn drop(&mut self) {
        let Stage::Waiting(operation, hand) = std::mem::replace(&mut self.stage, Stage::Done)
        else {
            return;
        };
        if operation.end() {
            self.channel.lock().withdraw_take(&operation, 0);
        } else if let Some(Handed { value, place }) = hand.fetch() {
            let mut effects = Effects::new();
            self.channel.lock().give_back(value, place, &mut effects);
            effects.run();
        }
    }
}

debug_by_name! {
    [T: Send + 'static] PutFuture<'_, T>;
    [T: Send + 'static] TakeFuture<'_, T>;
}
