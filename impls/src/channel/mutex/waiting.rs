//! The requests that wait at a channel: puts, reservations and takes, in the order in which they came, and how they
//! join and leave. A request that is over stays in line until its own thread removes it, or until it is passed over.

use super::MAX_WAITERS;
use super::hand::{Hand, Handed};
use super::operation::Operation;
use super::state::State;
use crate::sync::Arc;

/// A waiting put, with its value, or a reservation, which has none.
pub(super) struct WaitingPut<T> {
    pub(super) operation: Arc<Operation>,
    pub(super) clause: usize,
    pub(super) value: Option<T>,
    /// For a callback: where the value goes when the put is refused. Other requests get it back from the channel.
    pub(super) back: Option<Arc<Hand<T>>>,
}

/// A waiting take, and where its value goes.
pub(super) struct WaitingTake<T> {
    pub(super) operation: Arc<Operation>,
    pub(super) clause: usize,
    hand: Arc<Hand<T>>,
}

impl<T: 'static> WaitingTake<T> {
    /// Hands the value to the take, once it is won.
    pub(super) fn give(&self, value: &mut Option<T>, place: u64) {
        if let Some(value) = value.take() {
            self.hand.give(Handed { value, place });
        }
    }
}

impl<T: 'static> State<T> {
    /// Makes a put wait. The value comes back when the limit of waiting requests is reached (C7).
    pub(super) fn wait_to_put(
        &mut self,
        operation: &Arc<Operation>,
        clause: usize,
        value: T,
    ) -> Result<(), T> {
        let put = WaitingPut {
            operation: Arc::clone(operation),
            clause,
            value: Some(value),
            back: None,
        };
        self.join_puts(put).map_err(had_value)
    }

    /// [`State::wait_to_put`] for a request that cannot fetch its value itself. If it is refused, the value is in
    /// `back`.
    pub(super) fn wait_to_put_or_have_back(
        &mut self,
        operation: &Arc<Operation>,
        value: T,
        back: &Arc<Hand<T>>,
    ) -> Result<(), T> {
        let put = WaitingPut {
            operation: Arc::clone(operation),
            clause: 0,
            value: Some(value),
            back: Some(Arc::clone(back)),
        };
        self.join_puts(put).map_err(had_value)
    }

    pub(super) fn join_puts(&mut self, put: WaitingPut<T>) -> Result<(), WaitingPut<T>> {
        if self.puts.len() >= MAX_WAITERS
            && self
                .puts
                .iter()
                .filter(|put| put.operation.is_waiting())
                .count()
                >= MAX_WAITERS
        {
            return Err(put);
        }
        self.puts.push_back(put);
        Ok(())
    }

    /// Makes a take wait. `false` when the limit of waiting requests is reached (C7).
    pub(super) fn wait_to_take(
        &mut self,
        operation: &Arc<Operation>,
        clause: usize,
        hand: &Arc<Hand<T>>,
    ) -> bool {
        if self.takes.len() >= MAX_WAITERS
            && self
                .takes
                .iter()
                .filter(|take| take.operation.is_waiting())
                .count()
                >= MAX_WAITERS
        {
            return false;
        }
        self.takes.push_back(WaitingTake {
            operation: Arc::clone(operation),
            clause,
            hand: Arc::clone(hand),
        });
        true
    }

    /// Removes the put of a request that is over, and returns its value.
    pub(super) fn withdraw_put(&mut self, operation: &Operation, clause: usize) -> Option<T> {
        let is_it = |put: &WaitingPut<T>| put.clause == clause && put.operation.is(operation);
        let index = self.puts.iter().position(is_it)?;
        self.puts.remove(index).and_then(|put| put.value)
    }

    /// Removes the take of a request that is over.
    pub(super) fn withdraw_take(&mut self, operation: &Operation, clause: usize) {
        let is_it = |take: &WaitingTake<T>| take.clause == clause && take.operation.is(operation);
        if let Some(index) = self.takes.iter().position(is_it) {
            self.takes.remove(index);
        }
    }
}

/// The value of a put that was not allowed to wait.
fn had_value<T>(put: WaitingPut<T>) -> T {
    put.value.expect("a put has its value")
}
