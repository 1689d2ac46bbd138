//! The line for tasks: the same supply and queue, and a timer for the sleepers.

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
use super::{Line, ONE, Supply, Turn};

/// Permits of a supply, for tasks that sleep on a timer `T`.
#[derive(Debug)]
pub struct AsyncLine<S: Supply, T, const FAIR: bool> {
    line: Line<S, FAIR>,
    timer: T,
}

impl<S: Supply, T: Sleep, const FAIR: bool> AsyncLine<S, T, FAIR> {
    /// Whether it was granted permits by the deadline. If dropped while it waits, it gives up its
    /// place.
    async fn wait(&self, weight: NonZeroU32, deadline: Deadline) -> bool {
        if self.line.take_at_once(weight).is_ok() {
            return true;
        }
        let mut place = self.line.enter(weight, deadline);
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
                    // A moment that never comes needs no timer.
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

impl<S: Supply, T: Sleep, const FAIR: bool> Limiters for AsyncLine<S, T, FAIR> {
    fn with_quota(quota: Quota) -> Result<Self, LimitError> {
        Ok(AsyncLine {
            line: Line::with_quota(quota)?,
            timer: T::start(),
        })
    }

    #[inline]
    fn try_acquire(&self) -> Attempt {
        self.line.try_acquire()
    }
}

impl<S: Supply, T: Sleep, const FAIR: bool> AsyncLimit for AsyncLine<S, T, FAIR> {
    async fn acquire_async(&self) {
        self.wait(ONE, Deadline::NEVER).await;
    }
}

impl<S: Supply, T: Sleep, const FAIR: bool> AsyncLimitDeadline for AsyncLine<S, T, FAIR> {
    async fn acquire_until_async(&self, deadline: Deadline) -> bool {
        self.wait(ONE, deadline).await
    }
}

impl<S: Supply, T: Sleep, const FAIR: bool> AsyncWeightedLimit for AsyncLine<S, T, FAIR> {
    async fn acquire_weight_async(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        self.line.check_weight(weight)?;
        self.wait(weight, Deadline::NEVER).await;
        Ok(())
    }
}
