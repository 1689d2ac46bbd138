//! The semaphore for tasks: the same window and queue, and a timer for those who sleep.

use std::future::poll_fn;
use std::num::NonZeroU32;
use std::pin::pin;
use std::task::Poll;

use flowmeter_harness::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, Attempt, LimitError, Limiters, Quota,
};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::Sleep;

use super::{ONE, Semaphore, Turn};

/// n permits, each back one period after its acquisition, for tasks that sleep on a timer `S`.
#[derive(Debug)]
pub struct AsyncSemaphore<S, const FAIR: bool> {
    semaphore: Semaphore<FAIR>,
    timer: S,
}

impl<S: Sleep, const FAIR: bool> AsyncSemaphore<S, FAIR> {
    /// Whether it was granted until the deadline. Dropped while it waits, it gives up its place.
    async fn wait(&self, weight: NonZeroU32, deadline: Deadline) -> bool {
        if self.semaphore.take_at_once(weight).is_ok() {
            return true;
        }
        let place = self.semaphore.enter(weight, deadline, None);
        loop {
            let (until, was_first) = match place.turn() {
                Turn::Granted => return true,
                Turn::TimedOut => return false,
                Turn::Later { until, is_first } => (until, is_first),
            };
            let mut sleep = pin!(self.timer.sleep_until(until));
            poll_fn(|context| {
                if place.has_moved_up(was_first, context.waker()) {
                    Poll::Ready(())
                } else {
                    sleep.as_mut().poll(context)
                }
            })
            .await;
        }
    }
}

impl<S: Sleep, const FAIR: bool> Limiters for AsyncSemaphore<S, FAIR> {
    fn with_quota(quota: Quota) -> Result<Self, LimitError> {
        Ok(AsyncSemaphore {
            semaphore: Semaphore::with_quota(quota)?,
            timer: S::start(),
        })
    }

    fn try_acquire(&self) -> Attempt {
        self.semaphore.try_acquire()
    }
}

impl<S: Sleep, const FAIR: bool> AsyncLimit for AsyncSemaphore<S, FAIR> {
    async fn acquire_async(&self) {
        self.wait(ONE, Deadline::NEVER).await;
    }
}

impl<S: Sleep, const FAIR: bool> AsyncLimitDeadline for AsyncSemaphore<S, FAIR> {
    async fn acquire_until_async(&self, deadline: Deadline) -> bool {
        self.wait(ONE, deadline).await
    }
}

impl<S: Sleep, const FAIR: bool> AsyncWeightedLimit for AsyncSemaphore<S, FAIR> {
    async fn acquire_weight_async(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        self.semaphore.check_weight(weight)?;
        self.wait(weight, Deadline::NEVER).await;
        Ok(())
    }
}
