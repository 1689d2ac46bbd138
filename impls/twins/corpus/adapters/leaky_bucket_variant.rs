//! leaky-bucket in the variants that rows need: limiters that are not fair, and releases without `try_acquire`.

use ::std::future::poll_fn;
use ::std::num::NonZeroU32;
use ::std::pin::pin;

use ::leaky_bucket::RateLimiter;
use ::tokio::runtime::Handle;
use flowmeter_harness::limiter::{
    AsyncLimit, AsyncWeightedLimit, Attempt, LimitError, Limiters, Quota,
};

use super::tokio_runtime::OwnRuntime;

/// `leaky_bucket::RateLimiter`, as the features of the row have it.
pub struct Variant {
    limiter: RateLimiter,
    burst: NonZeroU32,
    /// `None`: the caller's runtime.
    runtime: Option<OwnRuntime>,
}

impl Variant {
    async fn acquire_many(&self, weight: NonZeroU32) {
        let mut acquiring = pin!(self.limiter.acquire(weight.get() as usize));
        poll_fn(|context| {
            let _context = self.runtime.as_ref().map(|runtime| runtime.enter());
            acquiring.as_mut().poll(context)
        })
        .await;
    }
}

impl Limiters for Variant {
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
            .fair(!cfg!(feature = "unfair"))
            .build();
        Ok(Variant {
            limiter,
            burst: quota.burst,
            runtime: Handle::try_current().is_err().then(OwnRuntime::of_timer),
        })
    }

    #[inline]
    fn try_acquire(&self) -> Attempt {
        #[cfg(not(feature = "older-leaky-bucket"))]
        let granted = self.limiter.try_acquire(1);
        // A release without it: an acquisition that is polled once.
        #[cfg(feature = "older-leaky-bucket")]
        let granted = {
            let _context = self.runtime.as_ref().map(|runtime| runtime.enter());
            let mut context = ::std::task::Context::from_waker(::std::task::Waker::noop());
            pin!(self.limiter.acquire(1)).poll(&mut context).is_ready()
        };
        if granted {
            Attempt::Granted
        } else {
            Attempt::NotBefore(None)
        }
    }
}

impl AsyncLimit for Variant {
    #[inline]
    async fn acquire_async(&self) {
        self.acquire_many(NonZeroU32::MIN).await;
    }
}

impl AsyncWeightedLimit for Variant {
    #[inline]
    async fn acquire_weight_async(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        if weight > self.burst {
            return Err(LimitError::AboveBurst);
        }
        self.acquire_many(weight).await;
        Ok(())
    }
}
