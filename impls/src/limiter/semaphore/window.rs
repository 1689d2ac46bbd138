//! Which permits are away, and when each is back.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use flowmeter_harness::limiter::{LimitError, Quota};
use flowmeter_harness::sync::Deadline;

use super::super::rate;

/// The acquisitions of the last period. The caller holds the lock around it and reads the clock under that
/// lock, so the moments it is given never run backwards.
#[derive(Debug)]
pub(super) struct Window {
    permits: u32,
    period_nanos: u64,
    /// Permits that are here, as of the last [`Window::collect`].
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

impl Window {
    pub(super) fn new(quota: Quota) -> Result<Window, LimitError> {
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

    /// What is back at `now` is here.
    pub(super) fn collect(&mut self, now: u64) {
        while let Some(first) = self.away.front()
            && first.back.as_nanos() <= now
        {
            self.free += first.permits;
            self.away.pop_front();
        }
    }

    /// Takes `weight` permits at `now`, up to which it has collected; answers when they are back.
    pub(super) fn take(&mut self, weight: NonZeroU32, now: u64) -> Option<Deadline> {
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

    /// Makes an acquisition undone of which nobody has heard; nothing to do where its permits are back.
    pub(super) fn undo(&mut self, weight: NonZeroU32, back: Deadline) {
        let place = self.away.binary_search_by_key(&back, |away| away.back);
        if let Ok(place) = place {
            self.away[place].permits -= weight.get();
            self.free += weight.get();
        }
    }

    /// When so many more permits can have been acquired, if each is as soon as it is back.
    pub(super) fn earliest(&self, permits: u64, now: u64) -> Deadline {
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
