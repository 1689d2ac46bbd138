//! A limiter made of tokio's `Semaphore`, as Anders Murphy makes it of Java's ("Clojure: managing throughput with
//! virtual threads"). A permit is acquired and forgotten, and a task gives it back one period later.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | try, async | `Semaphore::try_acquire`, `acquire` |
//! | weights | `Semaphore::acquire_many` |
//! | waiter-fifo | `Semaphore`: "is fair, which means that permits are given out in the order they were requested", `acquire_many` included |
//! | window-bound | `time::sleep`: "no work is performed while awaiting on the sleep future to complete", and it completes at or after its deadline (in whole milliseconds); the task begins its period after the acquisition |
//!
//! Not claimed: the crate has no blocking form. A form with a deadline is `time::timeout` around `acquire`, which is
//! not part of the semaphore.
//!
//! The tasks run on a runtime with one thread that all these limiters share. After a limiter is dropped, its tasks end
//! with their periods.

use ::std::num::NonZeroU32;
use ::std::sync::OnceLock;
use ::tokio::runtime::{Builder, Runtime};
use ::tokio::sync::{Semaphore, SemaphorePermit};
use ::tokio::time::{Instant, sleep_until};
use flowmeter_harness::limiter::{
    AsyncLimit, AsyncWeightedLimit, Attempt, LimitError, Limiters, Quota,
};

use crate::sync::Arc;

/// `tokio::sync::Semaphore` with tasks that give permits back.
#[derive(Debug)]
pub struct TokioSemaphore {
    permits: Arc<Semaphore>,
    quota: Quota,
}

fn runtime() -> &'static Runtime {
    static SHARED: OnceLock<Runtime> = OnceLock::new();
    SHARED.get_or_init(|| {
        let one_thread = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_time()
            .build();
        one_thread.expect("the system has room for one thread")
    })
}

impl TokioSemaphore {
    /// Schedules the permits to be given back one period from now.
    fn spend(&self, permit: SemaphorePermit<'_>) {
        let back = Instant::now() + self.quota.period;
        let weight = permit.num_permits();
        permit.forget();
        let permits = Arc::clone(&self.permits);
        runtime().spawn(async move {
            sleep_until(back).await;
            permits.add_permits(weight);
        });
    }
}

const NEVER_CLOSED: &str = "nothing closes the semaphore";

impl Limiters for TokioSemaphore {
    fn with_quota(quota: Quota) -> Result<Self, LimitError> {
        let is_on_the_clock = u64::try_from(quota.period.as_nanos()).is_ok();
        if quota.period.is_zero() || !is_on_the_clock || quota.burst != quota.permits {
            return Err(LimitError::ImpossibleRate);
        }
        Ok(TokioSemaphore {
            permits: Arc::new(Semaphore::new(quota.permits.get() as usize)),
            quota,
        })
    }

    #[inline]
    fn try_acquire(&self) -> Attempt {
        match self.permits.try_acquire() {
            Ok(permit) => {
                self.spend(permit);
                Attempt::Granted
            }
            Err(_) => Attempt::NotBefore(None),
        }
    }
}

impl AsyncLimit for TokioSemaphore {
    #[inline]
    async fn acquire_async(&self) {
        self.spend(self.permits.acquire().await.expect(NEVER_CLOSED));
    }
}

impl AsyncWeightedLimit for TokioSemaphore {
    #[inline]
    async fn acquire_weight_async(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        if weight > self.quota.permits {
            return Err(LimitError::AboveBurst);
        }
        let permit = self.permits.acquire_many(weight.get()).await;
        self.spend(permit.expect(NEVER_CLOSED));
        Ok(())
    }
}
