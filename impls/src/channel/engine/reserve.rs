//! Room that permits hold, and requests that wait for room (C15).

use std::task::{Poll, Waker};

use flowmeter_harness::channel::ReserveError;
use flowmeter_harness::sync::Deadline;

use super::effects::Effects;
use super::line::Party;
use super::state::{Put, State};
use super::store::Store;
use super::waiter::{Notify, Waiter, wait_for};
use super::{ChannelOver, Guard};
use crate::channel::design::Deferred;
use crate::channel::permits::Room;
use crate::sync::{Arc, Parker};

/// The answer of a reservation that waited.
fn told<T>(answer: Option<Put<T>>) -> Poll<Result<(), ReserveError>> {
    match answer {
        None => Poll::Pending,
        Some(put) => Poll::Ready(put.map_err(|_| ReserveError::Closed)),
    }
}

impl<T: Send, S: Store<T>> Room for State<T, S> {
    type Waiting = Arc<Waiter<Put<T>>>;

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
        // The permit's room is free if a waiting take has the value, or if the channel was closed.
        self.refill(effects);
        filled
    }

    fn release(&mut self, effects: &mut Effects<T>) {
        self.buffer.release();
        self.refill(effects);
    }

    fn wait_for_room(mut state: Guard<'_, T, S>) -> Result<(), ReserveError> {
        let parker = Parker::new();
        let waiter = Waiter::new(Notify::thread(&parker));
        state.wait_to_reserve(&waiter)?;
        drop(state);
        match wait_for(|| waiter.fetch(), &parker, Deadline::NEVER) {
            Some(Ok(())) => Ok(()),
            _ => Err(ReserveError::Closed),
        }
    }

    fn reserve_or_wake(
        channel: &ChannelOver<T, S>,
        waiting: &mut Option<Arc<Waiter<Put<T>>>>,
        waker: &Waker,
    ) -> Poll<Result<(), ReserveError>> {
        let mut state = channel.lock();
        match state.reserve() {
            Err(ReserveError::WouldWait) => {}
            answer => return Poll::Ready(answer),
        }
        let waiter = Waiter::new(Notify::Nothing);
        state.wait_to_reserve(&waiter)?;
        drop(state);
        // Stored before code of the executor runs. If that panics, dropping the future leaves the line.
        told(waiting.insert(waiter).fetch_or_wake_first(waker))
    }

    fn answer_or_wake(
        waiter: &Arc<Waiter<Put<T>>>,
        waker: &Waker,
    ) -> Poll<Result<(), ReserveError>> {
        told(waiter.fetch_or_wake(waker))
    }

    fn stop_waiting(channel: &ChannelOver<T, S>, waiter: Arc<Waiter<Put<T>>>) {
        let mut effects = Effects::new();
        let mut state = channel.lock();
        if !state.puts.leave_reservation(&waiter) && matches!(waiter.fetch(), Some(Ok(()))) {
            state.release(&mut effects);
        }
        drop(state);
        effects.run();
    }
}

impl<T: Send, S: Store<T>> State<T, S> {
    fn wait_to_reserve(&mut self, waiter: &Arc<Waiter<Put<T>>>) -> Result<(), ReserveError> {
        if self.puts.is_full() {
            return Err(ReserveError::TooManyWaiters);
        }
        self.puts
            .join_other(Party::Reservation(Arc::clone(waiter)), None);
        Ok(())
    }
}
