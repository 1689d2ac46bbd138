//! Puts and takes as futures. Dropping a pending one leaves it without effect. If it was already handed a value, the
//! value goes back to the channel (C9).

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
use super::store::Store;
use super::waiter::{Notify, Waiter};
use crate::channel::by_name::debug_by_name;
use crate::channel::design::{Core, Deferred};
use crate::channel::front::{Front, Quick};

/// A put that may have to wait. A value not yet put is dropped with it.
#[must_use = "a future does nothing unless it is polled"]
pub struct PutFuture<'a, T: Send, S: Store<T> = Buffer<T>> {
    channel: &'a ChannelOver<T, S>,
    /// Until the first poll.
    value: Option<T>,
    /// While it waits.
    waiter: Option<Arc<Waiter<Put<T>>>>,
}

/// A take that may have to wait.
#[must_use = "a future does nothing unless it is polled"]
pub struct TakeFuture<'a, T: Send, S: Store<T> = Buffer<T>> {
    channel: &'a ChannelOver<T, S>,
    stage: Stage<T>,
}

enum Stage<T> {
    Unpolled,
    Waiting(Arc<Waiter<Taken<T>>>),
    Done,
}

impl<'a, T: Send, S: Store<T>> PutFuture<'a, T, S> {
    pub(super) fn new(channel: &'a ChannelOver<T, S>, value: T) -> Self {
        PutFuture {
            channel,
            value: Some(value),
            waiter: None,
        }
    }

    /// Puts a value that the front did not accept. Not inlined, so that a put that does not wait needs no stack for it.
    ///
    /// It does not retry for a while, as a thread does. The task that it waits for may have to run on this very thread.
    #[cold]
    #[inline(never)]
    fn begin(&mut self, value: T, waker: &Waker) -> Poll<Result<(), PutError<T>>> {
        let value = match self.channel.front.offer::<false>(value) {
            Quick::Done(()) => return Poll::Ready(Ok(())),
            Quick::Unable(value) | Quick::Ask(value) => value,
        };
        let mut effects = Effects::new();
        let mut state = self.channel.lock();
        let value = match state.offer(value, &mut effects) {
            Offered::WouldWait(value) => value,
            Offered::Done => {
                drop(state);
                effects.run();
                return Poll::Ready(Ok(()));
            }
            Offered::Closed(value) => {
                return Poll::Ready(Err(PutError::Closed(Some(value))));
            }
        };
        if state.puts.is_full() {
            return Poll::Ready(Err(PutError::TooManyWaiters(value)));
        }
        let waiter = Waiter::new(Notify::Nothing);
        let party = Party::Single(Arc::clone(&waiter));
        state.puts.join(party, Some(value));
        drop(state);
        // Stored before code of the executor runs. If that panics, dropping this future leaves the line.
        let answer = self.waiter.insert(waiter).fetch_or_wake_first(waker);
        self.settle(answer)
    }

    /// The answer. If there is none yet, `waker` is woken once there is.
    fn look(&mut self, waker: &Waker) -> Poll<Result<(), PutError<T>>> {
        let waiter = self.waiter.as_ref();
        let waiter = waiter.expect("a put was polled after it was ready");
        let answer = waiter.fetch_or_wake(waker);
        self.settle(answer)
    }

    fn settle(&mut self, answer: Option<Put<T>>) -> Poll<Result<(), PutError<T>>> {
        let Some(put) = answer else {
            return Poll::Pending;
        };
        self.waiter = None;
        Poll::Ready(put.map_err(PutError::Closed))
    }
}

// The value is never pinned: it is moved into the channel.
impl<T: Send, S: Store<T>> Unpin for PutFuture<'_, T, S> {}

impl<T: Send, S: Store<T>> Future for PutFuture<'_, T, S> {
    type Output = Result<(), PutError<T>>;

    /// # Panics
    /// When it is polled after it was ready.
    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(value) = self.value.take() else {
            return self.look(context.waker());
        };
        match self.channel.front.offer_at_once(value) {
            Ok(()) => Poll::Ready(Ok(())),
            Err(value) => self.begin(value, context.waker()),
        }
    }
}

impl<T: Send, S: Store<T>> Drop for PutFuture<'_, T, S> {
    #[inline]
    fn drop(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            let value = self.channel.lock().puts.leave(&waiter);
            // Outside the lock, because the drop of a value may use the channel.
            drop(value);
        }
    }
}

impl<'a, T: Send, S: Store<T>> TakeFuture<'a, T, S> {
    pub(super) fn new(channel: &'a ChannelOver<T, S>) -> Self {
        TakeFuture {
            channel,
            stage: Stage::Unpolled,
        }
    }

    /// Takes after the front had no value. It does not retry, as [`PutFuture::begin`] does not.
    #[cold]
    #[inline(never)]
    fn begin(&mut self, waker: &Waker) -> Poll<Result<T, TakeError>> {
        self.stage = Stage::Done;
        if let Quick::Done(value) = self.channel.front.poll::<false>() {
            return Poll::Ready(Ok(value));
        }
        let mut effects = Effects::new();
        let mut state = self.channel.lock();
        match state.poll(&mut effects) {
            Polled::WouldWait => {}
            Polled::Done(value) => {
                drop(state);
                effects.run();
                return Poll::Ready(Ok(value));
            }
            Polled::Closed => return Poll::Ready(Err(TakeError::Closed)),
        }
        if state.takes.is_full() {
            return Poll::Ready(Err(TakeError::TooManyWaiters));
        }
        let waiter = Waiter::new(Notify::Nothing);
        state.takes.join(Party::Single(Arc::clone(&waiter)), ());
        drop(state);
        // Stored before code of the executor runs, as in a put.
        self.stage = Stage::Waiting(waiter);
        self.look_by(|waiter| waiter.fetch_or_wake_first(waker))
    }

    /// The answer. If there is none yet, `waker` is woken once there is.
    fn look(&mut self, waker: &Waker) -> Poll<Result<T, TakeError>> {
        self.look_by(|waiter| waiter.fetch_or_wake(waker))
    }

    fn look_by(
        &mut self,
        ask: impl FnOnce(&Waiter<Taken<T>>) -> Option<Taken<T>>,
    ) -> Poll<Result<T, TakeError>> {
        let Stage::Waiting(waiter) = &self.stage else {
            panic!("a take was polled after it was ready");
        };
        let Some(taken) = ask(waiter) else {
            return Poll::Pending;
        };
        self.stage = Stage::Done;
        let value = taken.map(|Handed { value, .. }| value);
        Poll::Ready(value.ok_or(TakeError::Closed))
    }

    /// Leaves the line, or gives back the value that it was handed.
    #[cold]
    #[inline(never)]
    fn leave(&self, waiter: &Waiter<Taken<T>>) {
        let mut effects = Effects::new();
        let mut state = self.channel.lock();
        if state.takes.leave(waiter).is_none()
            && let Some(Some(handed)) = waiter.fetch()
        {
            state.give_back(handed, &mut effects);
        }
        drop(state);
        effects.run();
    }
}

impl<T: Send, S: Store<T>> Future for TakeFuture<'_, T, S> {
    type Output = Result<T, TakeError>;

    /// # Panics
    /// When it is polled after it was ready.
    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Stage::Unpolled = self.stage else {
            return self.look(context.waker());
        };
        match self.channel.front.poll_at_once() {
            Some(value) => {
                self.stage = Stage::Done;
                Poll::Ready(Ok(value))
            }
            None => self.begin(context.waker()),
        }
    }
}

impl<T: Send, S: Store<T>> Drop for TakeFuture<'_, T, S> {
    #[inline]
    fn drop(&mut self) {
        if let Stage::Waiting(waiter) = &self.stage {
            self.leave(waiter);
        }
    }
}

debug_by_name! {
    [T: Send, S: Store<T>] PutFuture<'_, T, S>;
    [T: Send, S: Store<T>] TakeFuture<'_, T, S>;
}
