//! A semaphore of n permits, each of which is back one period after its acquisition: a sliding window,
//! after Anders Murphy, "Clojure: managing throughput with virtual threads".
//!
//! In the original each permit has a thread of its own that sleeps and then returns it. Here no thread
//! returns permits: a permit is back when the clock says so. Waiters stand in a [`Line`].
//!
//! Invariant: an acquisition reads the clock under the lock, and takes permits that were free at that
//! reading. Permits taken at t are free again at readings from t + period on. So no half-open period of
//! readings holds more than n. A caller sees its permit later than the reading, so the starts of the work
//! are only as regular as the machine's wake-ups.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use flowmeter_harness::limiter::{LimitError, Quota};
use flowmeter_harness::sync::Deadline;

use super::line::{AsyncLine, Line, Supply};
use super::rate;

/// First come, first served.
pub type FairSemaphore = Line<Window, true>;
/// An arriving caller takes what is free, ahead of the waiters.
pub type UnfairSemaphore = Line<Window, false>;
/// The same for tasks.
pub type AsyncSemaphore<T, const FAIR: bool> = AsyncLine<Window, T, FAIR>;

/// The acquisitions of the last period.
#[derive(Debug)]
pub struct Window {
    permits: u32,
    period_nanos: u64,
    /// Free permits, as of the last [`Supply::collect`].
    free: u32,
    /// Permits in use, in the order of their acquisition, hence of their return.
    away: VecDeque<Away>,
}

/// Permits acquired at one moment.
#[derive(Debug)]
struct Away {
    back: Deadline,
    permits: u32,
}

impl Supply for Window {
    /// When the permits are back.
    type Receipt = Deadline;

    /// Refuses a burst other than the number of permits: the window has no other burst.
    fn of(quota: Quota) -> Result<Window, LimitError> {
        let period_nanos = rate::nanos(quota.period)?;
        if quota.burst != quota.permits {
            return Err(LimitError::ImpossibleRate);
        }
        Ok(Window {
            permits: quota.permits.get(),
            period_nanos,
            free: quota.permits.get(),
            away: VecDeque::new(),
        })
    }

    fn collect(&mut self, now: u64) {
        while let Some(first) = self.away.front() {
            if first.back.as_nanos() > now {
                break;
            }
            self.free += first.permits;
            self.away.pop_front();
        }
    }

    fn take(&mut self, weight: NonZeroU32, now: u64) -> Option<Deadline> {
        let weight = weight.get();
        self.free = self.free.checked_sub(weight)?;
        let back = Deadline::from_nanos(now.saturating_add(self.period_nanos));
        match self.away.back_mut() {
            Some(last) if last.back == back => last.permits += weight,
            _ => self.away.push_back(Away {
                back,
                permits: weight,
            }),
        }
        Some(back)
    }

    /// Does nothing where the permits are back already.
    fn undo(&mut self, weight: NonZeroU32, back: Deadline) {
        let place = self.away.binary_search_by_key(&back, |away| away.back);
        if let Ok(place) = place {
            self.away[place].permits -= weight.get();
            self.free += weight.get();
        }
    }

    fn earliest(&self, permits: u64, now: u64) -> Deadline {
        let all = u64::from(self.permits);
        let (rounds, rest) = ((permits - 1) / all, (permits - 1) % all + 1);
        let mut there = u64::from(self.free);
        let mut first = now;
        let mut away = self.away.iter();
        while there < rest {
            let next = away
                .next()
                .expect("a permit that is not here will come back");
            there += u64::from(next.permits);
            first = next.back.as_nanos();
        }
        Deadline::from_nanos(first.saturating_add(rounds.saturating_mul(self.period_nanos)))
    }
}
