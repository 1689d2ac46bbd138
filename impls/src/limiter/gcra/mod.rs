//! The generic cell rate algorithm (ITU-T I.371) with tickets: a caller that has to wait reserves a slot and sleeps to
//! it.
//!
//! The whole state is the moment up to which permits are given away (`arrival.rs`). Each permit moves it on by the time
//! that a permit takes at the rate. A caller need not wait while that moment is at most a burst ahead of the clock. An
//! attempt is one compare-exchange of that word, without a lock. A wait is the same exchange, made beforehand: from
//! then on the slot belongs to the waiter, no other thread has to grant it anything, and only its own timer wakes it,
//! once. So waiters are served in the order of their exchanges, whatever their weights. There is no queue that a waiter
//! could block: a future that is never polled again, or a late thread, keeps its own permits only.
//!
//! The price is paid where a waiter gives up. Those behind it sleep to slots of their own, so only the last slot can be
//! given away again. Any other slot is *forfeited*: no caller gets its permits, and the rate falls short by them. A
//! caller that would get a slot after its deadline takes none and so costs the others nothing: it looks once more at
//! its deadline. Meanwhile it is behind every caller that has a slot.
//!
//! A slot is at the first whole nanosecond at which its permits are there. It is computed from a fraction that is not
//! rounded (`rate.rs`).

mod arrival;
mod awaited;

use std::num::NonZeroU32;

use flowmeter_harness::limiter::{
    Attempt, BlockingLimit, LimitDeadline, LimitError, Limiters, Quota, WeightedLimit,
};
use flowmeter_harness::sync::Deadline;

use crate::channel::trampoline;
use crate::sync::{Parker, clock};

use arrival::Arrival;

pub use awaited::AsyncGcra;

/// A rate with a burst, for threads.
#[derive(Debug)]
pub struct Gcra {
    burst: NonZeroU32,
    arrival: Arrival,
}

impl Gcra {
    /// Whether it was granted permits by the deadline.
    fn wait(&self, weight: NonZeroU32, deadline: Deadline) -> bool {
        loop {
            let is_late = clock::has_passed(deadline);
            match self.arrival.reserve(weight, deadline) {
                Ok(slot) => {
                    sleep_until(slot.due);
                    return true;
                }
                Err(_) if is_late => return false,
                Err(due) => sleep_until(due.min(deadline)),
            }
        }
    }

    /// Refuses an acquisition that could never be granted.
    fn check_weight(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        if weight > self.burst {
            return Err(LimitError::AboveBurst);
        }
        Ok(())
    }
}

/// Blocks the thread until that moment.
fn sleep_until(moment: Deadline) {
    if clock::has_passed(moment) {
        return;
    }
    trampoline::before_waiting();
    let parker = Parker::new();
    while !clock::has_passed(moment) {
        parker.park_until(moment);
    }
}

const ONE: NonZeroU32 = NonZeroU32::MIN;

impl Limiters for Gcra {
    /// Refuses a burst that takes more than 2^61 ticks: 73 years where a nanosecond is one tick.
    fn with_quota(quota: Quota) -> Result<Self, LimitError> {
        Ok(Gcra {
            burst: quota.burst,
            arrival: Arrival::of(quota)?,
        })
    }

    #[inline]
    fn try_acquire(&self) -> Attempt {
        match self.arrival.reserve(ONE, Deadline::from_nanos(0)) {
            Ok(_) => Attempt::Granted,
            Err(due) => Attempt::NotBefore(Some(due)),
        }
    }
}

impl BlockingLimit for Gcra {
    fn acquire(&self) {
        self.wait(ONE, Deadline::NEVER);
    }
}

impl LimitDeadline for Gcra {
    fn acquire_until(&self, deadline: Deadline) -> bool {
        self.wait(ONE, deadline)
    }
}

impl WeightedLimit for Gcra {
    fn acquire_weight(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        self.check_weight(weight)?;
        self.wait(weight, Deadline::NEVER);
        Ok(())
    }
}
