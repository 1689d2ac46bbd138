//! Built on a timer that futures can wait for: intervals, and timeouts of other futures.

use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::Sleep;

/// Moments a period apart, however late each of them is noticed.
///
/// ```
/// use std::time::Duration;
/// use flowmeter_harness::sync::std::{block_on, clock};
/// use flowmeter_impls::timer::futures::Interval;
/// use flowmeter_impls::timer::hierarchical_wheel::HierarchicalWheel;
///
/// let timers = HierarchicalWheel::new();
/// let begin = clock::after(Duration::from_millis(1));
/// let mut interval = Interval::new(&timers, begin, Duration::from_millis(2));
/// assert_eq!(block_on(interval.tick()), begin);
/// let second = block_on(interval.tick());
/// assert_eq!(second.as_nanos() - begin.as_nanos(), 2_000_000);
/// ```
#[derive(Debug)]
pub struct Interval<'s, S> {
    timers: &'s S,
    next: Deadline,
    period: Duration,
}

impl<'s, S: Sleep> Interval<'s, S> {
    /// Ticks at `first`, and then a `period` after every tick.
    ///
    /// # Panics
    /// When the period is zero.
    pub fn new(timers: &'s S, first: Deadline, period: Duration) -> Self {
        assert!(!period.is_zero(), "an interval needs a period above zero");
        Interval {
            timers,
            next: first,
            period,
        }
    }

    /// Waits for the next moment, and returns it. A moment that has passed is returned at once, so a late caller
    /// catches up and no moment is skipped. Dropping the future leaves the moment to the next call.
    pub async fn tick(&mut self) -> Deadline {
        let due = self.next;
        self.timers.sleep_until(due).await;
        self.next = Deadline::after(due.as_nanos(), self.period);
        due
    }

    /// Skips the moments before `now_nanos`; returns how many.
    pub fn skip(&mut self, now_nanos: u64) -> u64 {
        let behind = now_nanos.saturating_sub(self.next.as_nanos());
        let period = u64::try_from(self.period.as_nanos()).unwrap_or(u64::MAX);
        let missed = behind.div_ceil(period);
        let to = missed.saturating_mul(period);
        self.next = Deadline::from_nanos(self.next.as_nanos().saturating_add(to));
        missed
    }
}

/// The deadline came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the deadline came first")
    }
}

impl Error for Elapsed {}

/// Waits for a future until `deadline`. A future that is ready at its first poll is returned whatever the deadline.
///
/// # Errors
/// When the deadline came first. The future is dropped then.
pub async fn timeout_at<S: Sleep, F: Future>(
    timers: &S,
    deadline: Deadline,
    future: F,
) -> Result<F::Output, Elapsed> {
    let (mut future, mut sleep) = (pin!(future), pin!(timers.sleep_until(deadline)));
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        sleep.as_mut().poll(cx).map(|()| Err(Elapsed))
    })
    .await
}
