//! The generic cell rate algorithm (ITU-T I.371) with tickets: who has to wait reserves a slot and sleeps to it.
//!
//! The whole state is the moment up to which permits are given away (`arrival.rs`): each permit moves it on by what one
//! takes at the rate, and whoever may be a burst ahead of it need not wait. An attempt is one exchange of that word,
//! without a lock. A wait is the same exchange, made beforehand: from then on the slot is the waiter's, nobody grants
//! it anything and nobody wakes it but its own timer, once. So those who wait are served in the order of their exchanges,
//! heavy ones too, and there is no queue that somebody could hold up: one that is never polled again, or whose thread
//! is late, keeps its own permits and nobody else's.
//!
//! The price is paid where somebody gives up. Those behind it sleep to slots of their own, so only the last slot can be
//! given away again; any other is *forfeited*: its permits are granted to nobody, and the rate falls short by them. One
//! whose slot would come after its deadline takes none, and so costs nobody anything: it looks once more when its deadline
//! comes. Meanwhile it is behind everybody who has a slot.
//!
//! Slots are at whole nanoseconds, the first at which their permits are there; what they are computed from is a fraction
//! that is not rounded (`rate.rs`).

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
    /// Whether it was granted until the deadline.
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

    /// An acquisition that could never be granted is refused.
    fn check_weight(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        if weight > self.burst {
            return Err(LimitError::AboveBurst);
        }
        Ok(())
    }
}

/// Holds up the thread.
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
    /// Refuses a burst that takes more than 2^61 ticks, 73 years where a nanosecond is a whole number of permits.
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
