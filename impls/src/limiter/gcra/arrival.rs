//! The moment up to which permits are given away: the theoretical arrival time of GCRA, in one atomic word.
//!
//! The word is in ticks ([`Rate`]) of the clock, modulo 2^64. What lies ahead of the clock is given away already, and
//! nobody gives away more than 2^62 ticks; what lies behind it is as good as now. How far behind it is the word cannot
//! tell: after half of its range (292 years, where a nanosecond is a tick) what is past would look like what is to
//! come. So time has *eras* of 2^62 ticks. Whoever comes first in a new one says so in a second word, which is only
//! read otherwise, and brings the first up to date.
//!
//! Invariants: the arrival is no earlier than the beginning of the era that is told, and no later than 2^62 ticks from
//! now. Who reads the era, then the arrival and then the clock has a moment after all that made either; so within that era
//! the two are less than half of the word's range apart.

use std::num::NonZeroU32;

use flowmeter_harness::limiter::{LimitError, Quota};
use flowmeter_harness::sync::Deadline;

use super::super::rate::Rate;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::clock;

/// An era has two to the power of that many ticks.
const ERA: u32 = 62;
/// How far ahead of the clock permits are given away at most, in ticks.
const AHEAD: u64 = 1 << ERA;

#[derive(Debug)]
pub(super) struct Arrival {
    rate: Rate,
    /// What the burst takes, in ticks.
    burst: u64,
    arrival: AtomicU64,
    era: AtomicU64,
}

/// Permits that are somebody's from a moment on: a ticket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) due: Deadline,
    /// The arrival that it left behind.
    arrival: u64,
    /// What its permits take, in ticks.
    takes: u64,
}

/// A moment in nanoseconds, and as the word tells it.
#[derive(Clone, Copy)]
struct Moment {
    nanos: u64,
    era: u64,
    word: u64,
}

impl Arrival {
    /// Nothing is given away. Half of what may lie ahead has to hold a burst, so that those who wait have the other.
    pub(super) fn of(quota: Quota) -> Result<Arrival, LimitError> {
        let rate = Rate::of(quota)?;
        let burst = u64::from(quota.burst.get()).checked_mul(rate.ticks_per_permit);
        let burst = burst.filter(|burst| *burst <= AHEAD / 2);
        let burst = burst.ok_or(LimitError::ImpossibleRate)?;
        let now = now(rate);
        Ok(Arrival {
            rate,
            burst,
            arrival: AtomicU64::new(now.word),
            era: AtomicU64::new(now.era),
        })
    }

    /// Permits that are there now, or until a deadline; else when they would be. A burst holds that many.
    #[inline]
    pub(super) fn reserve(&self, weight: NonZeroU32, until: Deadline) -> Result<Slot, Deadline> {
        let takes = u64::from(weight.get()) * self.rate.ticks_per_permit;
        loop {
            let era = self.era.load(Ordering::Acquire);
            let arrival = self.arrival.load(Ordering::Acquire);
            let now = now(self.rate);
            if now.era != era {
                self.begin_era(era, now);
                continue;
            }
            let next = later(arrival, now.word).wrapping_add(takes);
            let ahead = next.wrapping_sub(now.word);
            let wait = ahead.saturating_sub(self.burst);
            // Most come without having to wait, and need no division.
            let due = match wait {
                0 => now.nanos,
                _ => (now.nanos).saturating_add(wait.div_ceil(self.rate.ticks_per_nano)),
            };
            if due > until.as_nanos().max(now.nanos) || ahead > AHEAD {
                return Err(Deadline::from_nanos(due));
            }
            let reserved = self.arrival.compare_exchange_weak(
                arrival,
                next,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if reserved.is_ok() {
                return Ok(Slot {
                    due: Deadline::from_nanos(due),
                    arrival: next,
                    takes,
                });
            }
        }
    }

    /// Nobody wants that slot any more. The last one is given away again; one with others behind it is forfeited, for
    /// they sleep to their own.
    pub(super) fn give_back(&self, slot: Slot) {
        let era = self.era.load(Ordering::Acquire);
        let now = now(self.rate);
        if now.era == era {
            let before = later(slot.arrival.wrapping_sub(slot.takes), now.word);
            let _ = self.arrival.compare_exchange(
                slot.arrival,
                before,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
        }
    }

    /// Brings the arrival up to date, and then tells the era. Who has read the new era has the arrival after it, so
    /// permits are given away between the two only by those who see the old one, on a clock that is in it.
    fn begin_era(&self, old: u64, now: Moment) {
        let arrival = self.arrival.load(Ordering::Acquire);
        if self.era.load(Ordering::Acquire) != old {
            return;
        }
        // What was given away in one era ends in the next.
        let kept = match now.era - old {
            1 => later(arrival, now.word),
            _ => now.word,
        };
        let is_kept =
            self.arrival
                .compare_exchange(arrival, kept, Ordering::AcqRel, Ordering::Relaxed);
        if is_kept.is_ok() {
            let _ = self
                .era
                .compare_exchange(old, now.era, Ordering::Release, Ordering::Relaxed);
        }
    }
}

#[inline]
fn now(rate: Rate) -> Moment {
    let nanos = clock::now_nanos();
    let ticks = u128::from(nanos) * u128::from(rate.ticks_per_nano);
    Moment {
        nanos,
        era: (ticks >> ERA) as u64,
        word: ticks as u64,
    }
}

/// The later of two moments less than half of the word's range apart.
fn later(one: u64, other: u64) -> u64 {
    if one.wrapping_sub(other).cast_signed() > 0 {
        one
    } else {
        other
    }
}
