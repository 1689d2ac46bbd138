//! leaky-bucket's rate limiter: a token bucket that is filled once an interval, by one of those who wait.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | try | `RateLimiter::try_acquire`: "returning `true` if the given number of permits were successfully acquired" |
//! | async, weights | `RateLimiter::acquire` |
//! | passes-on | the crate's page: "Dropped tasks release any resources they've reserved" |
//!
//! Not claimed: rate-bound and window-bound, for nothing is said of intervals that begin elsewhere than the bucket's own. A
//! full one and what is added to it an instant later may be had together. waiter-fifo, though `Builder::fair`, the
//! default, has tasks "make progress in the order that they acquire": order is told here by the moments at which the
//! limit lets turns come, and it promises none of those. wakes-once: the one that fills the bucket wakes
//! for each interval that it does so. Scenarios of limiters rely on rate-bound and window-bound alone, so nothing is
//! proved that a number of it would stand on, and it has none. There is no form that holds up its thread, and none with a deadline.
//!
//! A period is its interval and the permits are what is added then. An interval is refused that the crate refuses by a
//! panic, one of no whole millisecond. More than the burst at once is refused here: the crate would gather it over
//! several intervals.
//!
//! Whoever waits needs a runtime of tokio's with a timer. A limiter that is made inside of one takes for granted that its
//! futures are polled there; elsewhere it brings one with a single thread, which every poll has to enter.

use ::std::future::poll_fn;
use ::std::num::NonZeroU32;
use ::std::pin::pin;

use ::leaky_bucket::RateLimiter;
use ::tokio::runtime::Handle;
use flowmeter_harness::limiter::{
    AsyncLimit, AsyncWeightedLimit, Attempt, LimitError, Limiters, Quota,
};

use super::tokio_runtime::OwnRuntime;

/// `leaky_bucket::RateLimiter`, fair.
#[derive(Debug)]
pub struct LeakyBucket {
    limiter: RateLimiter,
    burst: NonZeroU32,
    /// `None`: the caller's.
    runtime: Option<OwnRuntime>,
}

impl LeakyBucket {
    async fn acquire_many(&self, weight: NonZeroU32) {
        let mut acquiring = pin!(self.limiter.acquire(weight.get() as usize));
        poll_fn(|context| {
            let _context = self.runtime.as_ref().map(|runtime| runtime.enter());
            acquiring.as_mut().poll(context)
        })
        .await;
    }
}

impl Limiters for LeakyBucket {
    /// # Panics
    /// When there is no runtime and the system refuses a thread for one.
    fn with_quota(quota: Quota) -> Result<Self, LimitError> {
        let is_on_the_clock = u64::try_from(quota.period.as_nanos()).is_ok();
        if quota.period.as_millis() == 0 || !is_on_the_clock {
            return Err(LimitError::ImpossibleRate);
        }
        let limiter = RateLimiter::builder()
            .interval(quota.period)
            .refill(quota.permits.get() as usize)
            .max(quota.burst.get() as usize)
            .initial(quota.burst.get() as usize)
            .build();
        Ok(LeakyBucket {
            limiter,
            burst: quota.burst,
            runtime: Handle::try_current().is_err().then(OwnRuntime::of_timer),
        })
    }

    #[inline]
    fn try_acquire(&self) -> Attempt {
        if self.limiter.try_acquire(1) {
            Attempt::Granted
        } else {
            Attempt::NotBefore(None)
        }
    }
}

impl AsyncLimit for LeakyBucket {
    #[inline]
    async fn acquire_async(&self) {
        self.acquire_many(NonZeroU32::MIN).await;
    }
}

impl AsyncWeightedLimit for LeakyBucket {
    #[inline]
    async fn acquire_weight_async(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        if weight > self.burst {
            return Err(LimitError::AboveBurst);
        }
        self.acquire_many(weight).await;
        Ok(())
    }
}
