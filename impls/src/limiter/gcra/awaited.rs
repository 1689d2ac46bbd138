//! The same for tasks: slots on the same word, and a timer for the waiters that sleep to theirs.

use std::num::NonZeroU32;

use flowmeter_harness::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, Attempt, LimitError, Limiters, Quota,
};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::Sleep;

use crate::sync::clock;

use super::arrival::{Arrival, Slot};
use super::{Gcra, ONE};

/// A rate with a burst, for tasks that sleep on a timer `S`.
#[derive(Debug)]
pub struct AsyncGcra<S> {
    gcra: Gcra,
    timer: S,
}

/// A slot of a future that has not seen its permits yet, given back when it is dropped.
struct Reserved<'a> {
    arrival: &'a Arrival,
    slot: Option<Slot>,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            self.arrival.give_back(slot);
        }
    }
}

impl<S: Sleep> AsyncGcra<S> {
    /// Whether it was granted permits by the deadline.
    async fn wait(&self, weight: NonZeroU32, deadline: Deadline) -> bool {
        let arrival = &self.gcra.arrival;
        loop {
            let is_late = clock::has_passed(deadline);
            match arrival.reserve(weight, deadline) {
                Ok(slot) => {
                    let mut reserved = Reserved {
                        arrival,
                        slot: Some(slot),
                    };
                    self.sleep_until(slot.due).await;
                    reserved.slot = None;
                    return true;
                }
                Err(_) if is_late => return false,
                Err(due) => self.sleep_until(due.min(deadline)).await,
            }
        }
    }

    async fn sleep_until(&self, moment: Deadline) {
        if !clock::has_passed(moment) {
            self.timer.sleep_until(moment).await;
        }
    }
}

impl<S: Sleep> Limiters for AsyncGcra<S> {
    fn with_quota(quota: Quota) -> Result<Self, LimitError> {
        Ok(AsyncGcra {
            gcra: Gcra::with_quota(quota)?,
            timer: S::start(),
        })
    }

    #[inline]
    fn try_acquire(&self) -> Attempt {
        self.gcra.try_acquire()
    }
}

impl<S: Sleep> AsyncLimit for AsyncGcra<S> {
    async fn acquire_async(&self) {
        self.wait(ONE, Deadline::NEVER).await;
    }
}

impl<S: Sleep> AsyncLimitDeadline for AsyncGcra<S> {
    async fn acquire_until_async(&self, deadline: Deadline) -> bool {
        self.wait(ONE, deadline).await
    }
}

impl<S: Sleep> AsyncWeightedLimit for AsyncGcra<S> {
    async fn acquire_weight_async(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        self.gcra.check_weight(weight)?;
        self.wait(weight, Deadline::NEVER).await;
        Ok(())
    }
}
