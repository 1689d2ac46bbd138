//! Which permits are away, and when each is back.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::time::Duration;

use flowmeter_harness::limiter::{LimitError, Quota};
use flowmeter_harness::sync::Deadline;

use crate::sync::clock;

/// The acquisitions of the last period.
#[derive(Debug)]
pub(super) struct Window {
    period: Duration,
    /// Permits that can be had now, if [`Window::take`] has looked at the clock since they came back.
    free: u32,
    /// Those that are away, in the order of their acquisition, hence of their return.
    away: VecDeque<Away>,
}

/// Permits acquired at one moment.
#[derive(Debug)]
struct Away {
    back: Deadline,
    permits: u32,
}

/// Not enough permits were there.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotYet {
    /// When it was looked.
    pub(super) now: u64,
    /// When enough are back, if nobody takes any meanwhile.
    pub(super) back: Deadline,
}

impl Window {
    pub(super) fn new(quota: Quota) -> Result<Window, LimitError> {
        let is_on_the_clock = u64::try_from(quota.period.as_nanos()).is_ok();
        if quota.period.is_zero() || !is_on_the_clock || quota.burst != quota.permits {
            return Err(LimitError::ImpossibleRate);
        }
        Ok(Window {
            period: quota.period,
            free: quota.permits.get(),
            away: VecDeque::new(),
        })
    }

    /// Takes `weight` permits at this moment, at most as many as the quota has. The caller holds the lock
    /// around the window, so acquisitions are in the order of the clock.
    pub(super) fn take(&mut self, weight: NonZeroU32) -> Result<(), NotYet> {
        let weight = weight.get();
        let now = clock::now_nanos();
        while let Some(first) = self.away.front()
            && first.back.as_nanos() <= now
        {
            self.free += first.permits;
            self.away.pop_front();
        }
        if self.free < weight {
            return Err(NotYet {
                now,
                back: self.enough_back(weight),
            });
        }
        self.free -= weight;
        let back = Deadline::after(now, self.period);
        match self.away.back_mut() {
            Some(last) if last.back == back => last.permits += weight,
            _ => self.away.push_back(Away {
                back,
                permits: weight,
            }),
        }
        Ok(())
    }

    fn enough_back(&self, weight: u32) -> Deadline {
        let mut there = self.free;
        let enough = self.away.iter().find(|away| {
            there += away.permits;
            there >= weight
        });
        enough.expect("nobody asks for more than the quota").back
    }
}
