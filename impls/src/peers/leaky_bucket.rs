//! leaky-bucket's rate limiter: a token bucket that one of the waiting tasks fills once an interval.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | try | `RateLimiter::try_acquire`: "returning `true` if the given number of permits were successfully acquired" |
//! | async, weights | `RateLimiter::acquire` |
//! | passes-on | the crate's page: "Dropped tasks release any resources they've reserved" |
//!
//! Not claimed:
//!
//! * rate-bound and window-bound: the crate says nothing of intervals that begin elsewhere than the bucket's own. The
//!   permits of a full bucket and those added an instant later may be had together.
//! * waiter-fifo, though `Builder::fair`, the default, has tasks "make progress in the order that they acquire". The
//!   harness tells order by the moments at which the limiter lets turns come, and the crate promises none of those.
//! * wakes-once: the task that fills the bucket wakes for each interval in which it does so.
//!
//! Scenarios of limiters rely on rate-bound and window-bound alone. Neither is proved here, so this limiter has no
//! number. It has no blocking form, and none with a deadline.
//!
//! The quota's period is the crate's interval, and its permits are what is added per interval. An interval of no whole
//! millisecond is refused, because the crate panics on one. A request for more than the burst is refused, because the
//! crate would gather it over several intervals.
//!
//! A waiting task needs a tokio runtime with a timer. A limiter that is made inside a runtime assumes that its futures
//! are polled there. Elsewhere it brings a runtime with a single thread, which every poll has to enter.

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
    /// `None`: the caller's runtime.
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
