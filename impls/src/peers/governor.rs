//! governor's direct rate limiter: GCRA on one atomic word.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | try | `RateLimiter::check`: "if the rate limit is reached, `check` returns information about the earliest time that a cell might be allowed through again" |
//! | async | `RateLimiter::until_ready` |
//! | weights | `RateLimiter::until_n_ready`; it answers `InsufficientCapacity` above the burst |
//! | rate-bound | `Quota`, "Burst sizes": "the burst size is the maximum number of cells that the rate limiter will ever allow through without replenishing them", one in each `replenish_interval` |
//!
//! Not claimed: window-bound, because a full bucket lets through a burst and, within one period of it, the permits of
//! the rate as well. waiter-fifo: `until_ready` asks again after its sleep, and the first task to ask is let through
//! ("it is advisable to use `until_ready_with_jitter`, to avoid thundering herds"). There is no blocking form, and none
//! with a deadline.
//!
//! It uses its own clock (quanta's, its default). The rate of that clock may differ from the system's by its
//! calibration error. The interval of replenishment is rounded up to whole nanoseconds, so that the rate is never above
//! the quota's.

use ::governor::clock::{Clock, DefaultClock, Reference};
use ::governor::{DefaultDirectRateLimiter, RateLimiter};
use ::std::num::NonZeroU32;
use ::std::time::Duration;
use flowmeter_harness::limiter::{
    AsyncLimit, AsyncWeightedLimit, Attempt, LimitError, Limiters, Quota,
};

use flowmeter_harness::sync::Deadline;

use crate::sync::clock;

/// A moment of its clock.
type Moment = <DefaultClock as Clock>::Instant;

/// `governor::DefaultDirectRateLimiter`.
#[derive(Debug)]
pub struct Governor {
    limiter: DefaultDirectRateLimiter,
    /// One moment on both clocks, so that a refusal is told in ours without reading either. Ours was read first. So the
    /// result is early by the time between the two readings. A difference in the rates of the clocks may make it early
    /// or late.
    began_nanos: u64,
    began: Moment,
}

/// The crate's quota, if its arithmetic (64-bit nanoseconds, unchecked) can hold it.
fn governed(quota: Quota) -> Option<::governor::Quota> {
    let interval = quota.period.as_nanos().div_ceil(quota.permits.get().into());
    // The burst may use half of the clock's range. The other half is left for the time of day.
    let whole_burst = interval.checked_mul(quota.burst.get().into())?;
    let is_faster_than_the_clock = quota.period.as_nanos() < quota.permits.get().into();
    if is_faster_than_the_clock || whole_burst > u128::from(u64::MAX / 2) {
        return None;
    }
    let interval = Duration::from_nanos(u64::try_from(interval).ok()?);
    Some(::governor::Quota::with_period(interval)?.allow_burst(quota.burst))
}

impl Limiters for Governor {
    fn with_quota(quota: Quota) -> Result<Self, LimitError> {
        let quota = governed(quota).ok_or(LimitError::ImpossibleRate)?;
        let own = DefaultClock::default();
        Ok(Governor {
            // In this order, as `Governor::began_nanos` explains.
            began_nanos: clock::now_nanos(),
            began: own.now(),
            limiter: RateLimiter::direct_with_clock(quota, own),
        })
    }

    #[inline]
    fn try_acquire(&self) -> Attempt {
        match self.limiter.check() {
            Ok(()) => Attempt::Granted,
            Err(until) => {
                let since: Duration = until.earliest_possible().duration_since(self.began).into();
                Attempt::NotBefore(Some(Deadline::after(self.began_nanos, since)))
            }
        }
    }
}

impl AsyncLimit for Governor {
    #[inline]
    fn acquire_async(&self) -> impl Future<Output = ()> + Send {
        self.limiter.until_ready()
    }
}

impl AsyncWeightedLimit for Governor {
    #[inline]
    async fn acquire_weight_async(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        let granted = self.limiter.until_n_ready(weight).await;
        granted.map_err(|_| LimitError::AboveBurst)
    }
}
