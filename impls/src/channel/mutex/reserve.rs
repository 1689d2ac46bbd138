//! Room that permits hold, and requests that wait for room (C15).

use std::task::{Poll, Waker};

use flowmeter_harness::channel::{Message, ReserveError};
use flowmeter_harness::sync::Deadline;

use super::effects::Effects;
use super::operation::{Notify, Operation};
use super::state::{Attempt, State};
use super::waiting::WaitingPut;
use super::{Channel, wait};
use crate::channel::permits::{Permit, Room};
use crate::sync::{Arc, LightMutexGuard, Parker};

impl<T: Message> Room for State<T> {
    type Waiting = Arc<Operation>;

    fn reserve(&mut self) -> Result<(), ReserveError> {
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
        // The permit's room is free if a waiting take has the value, or if the channel was closed.
        self.refill(effects);
        filled
    }

    fn release(&mut self, effects: &mut Effects<T>) {
        self.reserved -= 1;
        self.refill(effects);
    }

    fn wait_for_room(mut state: LightMutexGuard<'_, State<T>>) -> Result<(), ReserveError> {
        let parker = Parker::new();
        let operation = Operation::new(Notify::thread(&parker));
        state.wait_to_reserve(&operation)?;
        drop(state);
        match wait(&parker, &operation, Deadline::NEVER) {
            Some(committed) if !committed.refused => Ok(()),
            _ => Err(ReserveError::Closed),
        }
    }

    fn reserve_or_wake(
        channel: &Channel<T>,
        waiting: &mut Option<Arc<Operation>>,
        waker: &Waker,
    ) -> Poll<Result<(), ReserveError>> {
        let mut reserved = channel.lock().reserve();
        if reserved == Err(ReserveError::WouldWait) {
            // Made outside the lock, because cloning a waker runs code of the executor.
            let operation = Operation::new(Notify::Task(waker.clone()));
            let mut state = channel.lock();
            reserved = state.reserve();
            if reserved == Err(ReserveError::WouldWait) {
                reserved = state.wait_to_reserve(&operation);
                if reserved.is_ok() {
                    drop(state);
                    *waiting = Some(operation);
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(reserved)
    }

    fn answer_or_wake(operation: &Arc<Operation>, waker: &Waker) -> Poll<Result<(), ReserveError>> {
        match operation.committed_or_wake(waker) {
            None => Poll::Pending,
            Some(committed) if committed.refused => Poll::Ready(Err(ReserveError::Closed)),
            Some(_) => Poll::Ready(Ok(())),
        }
    }

    fn stop_waiting(channel: &Channel<T>, operation: Arc<Operation>) {
        if operation.end() {
            let nothing = channel.lock().withdraw_put(&operation, 0);
            debug_assert!(nothing.is_none(), "a reservation has no value");
        } else if operation.committed().is_some_and(|end| !end.refused) {
            drop(Permit { channel });
        }
    }
}

impl<T: Message> State<T> {
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

    /// At a close, refuses all requests that wait for room.
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
