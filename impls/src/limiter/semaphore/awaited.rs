//! The semaphore for tasks: the same window and queue, and a timer for those who sleep.

use std::future::poll_fn;
use std::num::NonZeroU32;
use std::pin::pin;
use std::task::{Poll, ready};

use flowmeter_harness::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, Attempt, LimitError, Limiters, Quota,
};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::Sleep;

use super::queue::Wake;
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
        let mut place = self.semaphore.enter(weight, deadline);
        let mut sleep = pin!(None);
        let mut asleep_until = None;
        poll_fn(|context| {
            loop {
                let until = match place.turn(Wake::Task(context.waker().clone())) {
                    Turn::Granted => return Poll::Ready(true),
                    Turn::TimedOut => return Poll::Ready(false),
                    Turn::Later(until) => until,
                };
                if asleep_until != Some(until) {
                    asleep_until = Some(until);
                    // What never comes needs no timer.
                    let comes = until != Deadline::NEVER;
                    sleep.set(comes.then(|| self.timer.sleep_until(until)));
                }
                let Some(asleep) = sleep.as_mut().as_pin_mut() else {
                    return Poll::Pending;
                };
                ready!(asleep.poll(context));
                sleep.set(None);
                asleep_until = None;
            }
        })
        .await
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
