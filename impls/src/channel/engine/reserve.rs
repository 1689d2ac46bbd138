//! Permits: room for one value, held before there is one (C15).
//!
//! A permit takes room as a stored value does. Who waits for one stands in line with the puts, and is served in turn.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{Message, ReserveError};
use flowmeter_harness::sync::Deadline;

use super::ChannelOver;
use super::buffer::Buffer;
use super::effects::Effects;
use super::line::Party;
use super::state::{Put, State};
use super::store::Store;
use super::waiter::{Notify, Waiter};
use crate::channel::permits::Permits;
use crate::sync::{Arc, Parker};

/// Room for one value. Dropping it gives the room back.
#[must_use = "dropping a permit gives its room back"]
pub struct Permit<'a, T: Message, S: Store<T> = Buffer<T>> {
    channel: &'a ChannelOver<T, S>,
}

impl<T: Message, S: Store<T>> Permit<'_, T, S> {
    /// Puts into the room that is held; never waits.
    ///
    /// # Errors
    /// The value, when the channel has been closed since.
    pub fn fill(self, value: T) -> Result<(), T> {
        let channel = self.channel;
        // Its room is used, or of no use any more.
        std::mem::forget(self);
        let mut effects = Effects::new();
        let filled = channel.lock().fill(value, &mut effects);
        effects.run();
        filled
    }
}

impl<T: Message, S: Store<T>> Drop for Permit<'_, T, S> {
    fn drop(&mut self) {
        let mut effects = Effects::new();
        self.channel.lock().release(&mut effects);
        effects.run();
    }
}

impl<T: Message, S: Store<T>> Permits for ChannelOver<T, S> {
    type Permit<'a> = Permit<'a, T, S>;

    fn try_reserve(&self) -> Result<Permit<'_, T, S>, ReserveError> {
        self.lock().reserve()?;
        Ok(Permit { channel: self })
    }

    fn reserve(&self) -> Result<Permit<'_, T, S>, ReserveError> {
        let mut state = self.lock();
        match state.reserve() {
            Err(ReserveError::WouldWait) => {}
            answer => return answer.map(|()| Permit { channel: self }),
        }
        let parker = Parker::new();
        let waiter = Waiter::new(Notify::Thread(parker.unparker()));
        state.wait_to_reserve(&waiter)?;
        drop(state);
        match waiter.wait(&parker, Deadline::NEVER) {
            Some(Ok(())) => Ok(Permit { channel: self }),
            _ => Err(ReserveError::Closed),
        }
    }

    fn reserve_async(&self) -> impl Future<Output = Result<Permit<'_, T, S>, ReserveError>> + Send {
        ReserveFuture {
            channel: self,
            waiter: None,
        }
    }

    fn fill(permit: Permit<'_, T, S>, value: T) -> Result<(), T> {
        permit.fill(value)
    }
}

/// A reservation that may have to wait.
struct ReserveFuture<'a, T: Message, S: Store<T>> {
    channel: &'a ChannelOver<T, S>,
    /// While it waits.
    waiter: Option<Arc<Waiter<Put<T>>>>,
}

impl<'a, T: Message, S: Store<T>> ReserveFuture<'a, T, S> {
    /// Reserves, or joins the line under the same lock.
    fn begin(&mut self, waker: &Waker) -> Poll<Result<Permit<'a, T, S>, ReserveError>> {
        let channel = self.channel;
        let mut state = channel.lock();
        match state.reserve() {
            Err(ReserveError::WouldWait) => {}
            answer => return Poll::Ready(answer.map(|()| Permit { channel })),
        }
        let waiter = Waiter::new(Notify::Nobody);
        if let Err(refused) = state.wait_to_reserve(&waiter) {
            return Poll::Ready(Err(refused));
        }
        drop(state);
        // Ours before the executor's code runs: should that panic, the drop of this future leaves the line.
        let answer = self.waiter.insert(waiter).fetch_or_wake_first(waker);
        self.settle(answer)
    }

    fn settle(&mut self, answer: Option<Put<T>>) -> Poll<Result<Permit<'a, T, S>, ReserveError>> {
        let Some(put) = answer else {
            return Poll::Pending;
        };
        self.waiter = None;
        Poll::Ready(match put {
            Ok(()) => Ok(Permit {
                channel: self.channel,
            }),
            Err(_) => Err(ReserveError::Closed),
        })
    }
}

impl<'a, T: Message, S: Store<T>> Future for ReserveFuture<'a, T, S> {
    type Output = Result<Permit<'a, T, S>, ReserveError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(waiter) = &self.waiter else {
            return self.begin(context.waker());
        };
        let answer = waiter.fetch_or_wake(context.waker());
        self.settle(answer)
    }
}

impl<T: Message, S: Store<T>> Drop for ReserveFuture<'_, T, S> {
    fn drop(&mut self) {
        let Some(waiter) = self.waiter.take() else {
            return;
        };
        let mut effects = Effects::new();
        let mut state = self.channel.lock();
        if state.puts.leave(&waiter).is_none() && matches!(waiter.fetch(), Some(Ok(()))) {
            state.release(&mut effects);
        }
        drop(state);
        effects.run();
    }
}

impl<T: Message, S: Store<T>> State<T, S> {
    fn reserve(&mut self) -> Result<(), ReserveError> {
        if !self.buffer.has_limits() || self.transformed.is_some() {
            Err(ReserveError::NothingToReserve)
        } else if self.closed {
            Err(ReserveError::Closed)
        } else if self.buffer.is_full() {
            Err(ReserveError::WouldWait)
        } else {
            self.buffer.reserve();
            Ok(())
        }
    }

    fn wait_to_reserve(&mut self, waiter: &Arc<Waiter<Put<T>>>) -> Result<(), ReserveError> {
        if self.puts.is_full() {
            return Err(ReserveError::TooManyWaiters);
        }
        self.puts.join(Party::Single(Arc::clone(waiter)), None);
        Ok(())
    }

    /// Puts a value into the room of a permit.
    fn fill(&mut self, value: T, effects: &mut Effects<T>) -> Result<(), T> {
        self.buffer.release();
        let filled = if self.closed {
            Err(value)
        } else {
            if let Err(value) = self.hand_to_next(value, effects) {
                self.buffer.overfill(value, effects);
            }
            Ok(())
        };
        // Its room is free where a take that waited has the value, or the channel was closed.
        self.refill(effects);
        filled
    }

    /// Gives the room of a permit back.
    fn release(&mut self, effects: &mut Effects<T>) {
        self.buffer.release();
        self.refill(effects);
    }
}

impl<T: Message, S: Store<T>> fmt::Debug for Permit<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permit")
    }
}
