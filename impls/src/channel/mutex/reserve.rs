//! Permits: room for one value, held before there is one (C15).
//!
//! A permit takes room as a stored value does. Who waits for one stands in line with the puts, and is served in turn.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use flowmeter_harness::channel::{Message, ReserveError};
use flowmeter_harness::sync::Deadline;

use super::effects::Effects;
use super::operation::{Notify, Operation};
use super::state::{Attempt, State};
use super::waiting::WaitingPut;
use super::{Channel, wait};
use crate::channel::permits::Permits;
use crate::sync::{Arc, Parker};

/// Room for one value. Dropping it gives the room back.
#[must_use = "dropping a permit gives its room back"]
pub struct Permit<'a, T: Send + 'static> {
    channel: &'a Channel<T>,
}

impl<T: Send + 'static> Permit<'_, T> {
    /// Puts into the room that is held; never waits.
    ///
    /// # Errors
    /// The value, when the channel has been closed since.
    pub fn fill(self, value: T) -> Result<(), T> {
        let channel = self.channel;
        // Its room is used, or of no use any more.
        std::mem::forget(self);
        let mut effects = Effects::new();
        let filled = channel.0.lock().fill(value, &mut effects);
        effects.run();
        filled
    }
}

impl<T: Send + 'static> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        let mut effects = Effects::new();
        self.channel.0.lock().release(&mut effects);
        effects.run();
    }
}

impl<T: Message> Permits for Channel<T> {
    type Permit<'a> = Permit<'a, T>;

    fn try_reserve(&self) -> Result<Permit<'_, T>, ReserveError> {
        self.0.lock().reserve_now()?;
        Ok(Permit { channel: self })
    }

    fn reserve(&self) -> Result<Permit<'_, T>, ReserveError> {
        let mut state = self.0.lock();
        match state.reserve_now() {
            Err(ReserveError::WouldWait) => {}
            answer => return answer.map(|()| Permit { channel: self }),
        }
        let parker = Parker::new();
        let operation = Operation::new(Notify::Thread(parker.unparker()));
        state.wait_to_reserve(&operation)?;
        drop(state);
        match wait(&parker, &operation, Deadline::NEVER) {
            Some(committed) if !committed.refused => Ok(Permit { channel: self }),
            _ => Err(ReserveError::Closed),
        }
    }

    fn reserve_async(&self) -> impl Future<Output = Result<Permit<'_, T>, ReserveError>> + Send {
        ReserveFuture {
            channel: self,
            operation: None,
        }
    }

    fn fill(permit: Permit<'_, T>, value: T) -> Result<(), T> {
        permit.fill(value)
    }
}

/// A reservation that may have to wait.
struct ReserveFuture<'a, T: Send + 'static> {
    channel: &'a Channel<T>,
    /// While it waits.
    operation: Option<Arc<Operation>>,
}

impl<'a, T: Send + 'static> Future for ReserveFuture<'a, T> {
    type Output = Result<Permit<'a, T>, ReserveError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let channel = self.channel;
        if let Some(operation) = &self.operation {
            let Some(committed) = operation.committed_or_wake(context.waker()) else {
                return Poll::Pending;
            };
            self.operation = None;
            return Poll::Ready(if committed.refused {
                Err(ReserveError::Closed)
            } else {
                Ok(Permit { channel })
            });
        }
        let mut reserved = channel.0.lock().reserve_now();
        if reserved == Err(ReserveError::WouldWait) {
            // Made outside the lock: cloning a waker runs code of the executor.
            let operation = Operation::new(Notify::Task(context.waker().clone()));
            let mut state = channel.0.lock();
            reserved = state.reserve_now();
            if reserved == Err(ReserveError::WouldWait) {
                reserved = state.wait_to_reserve(&operation);
                if reserved.is_ok() {
                    drop(state);
                    self.operation = Some(operation);
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(reserved.map(|()| Permit { channel }))
    }
}

impl<T: Send + 'static> Drop for ReserveFuture<'_, T> {
    fn drop(&mut self) {
        let Some(operation) = self.operation.take() else {
            return;
        };
        if operation.end() {
            let nothing = self.channel.0.lock().withdraw_put(&operation, 0);
            debug_assert!(nothing.is_none(), "a reservation has no value");
        } else if operation.committed().is_some_and(|end| !end.refused) {
            drop(Permit {
                channel: self.channel,
            });
        }
    }
}

impl<T: 'static> State<T> {
    fn reserve_now(&mut self) -> Result<(), ReserveError> {
        if !self.store.has_limits() || self.transformed.is_some() {
            Err(ReserveError::NothingToReserve)
        } else if self.closed {
            Err(ReserveError::Closed)
        } else if self.is_full() {
            Err(ReserveError::WouldWait)
        } else {
            self.reserved += 1;
            Ok(())
        }
    }

    fn wait_to_reserve(&mut self, operation: &Arc<Operation>) -> Result<(), ReserveError> {
        let reservation = WaitingPut {
            operation: Arc::clone(operation),
            clause: 0,
            value: None,
            back: None,
        };
        self.join_puts(reservation)
            .map_err(|_| ReserveError::TooManyWaiters)
    }

    /// Puts a value into the room of a permit.
    fn fill(&mut self, value: T, effects: &mut Effects<T>) -> Result<(), T> {
        self.reserved -= 1;
        let filled = if self.closed {
            Err(value)
        } else {
            match self.hand_over(value, self.handed, None, effects) {
                Attempt::Done(_) => self.handed += 1,
                Attempt::NotAble(value) | Attempt::Lost(value) => self.store_anyway(value, effects),
            }
            Ok(())
        };
        // Its room is free where a take that waited has the value, or the channel was closed.
        self.refill(effects);
        filled
    }

    /// Gives the room of a permit back.
    fn release(&mut self, effects: &mut Effects<T>) {
        self.reserved -= 1;
        self.refill(effects);
    }

    /// At a close, those who wait for room have nothing to wait for.
    pub(super) fn refuse_reservations(&mut self, effects: &mut Effects<T>) {
        self.puts.retain(|put| {
            let reservation = put.value.is_none();
            if reservation && put.operation.refuse(put.clause, || {}) {
                effects.wake(Arc::clone(&put.operation));
            }
            !reservation
        });
    }
}

impl<T: Send + 'static> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Permit")
    }
}
