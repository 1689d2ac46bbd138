//! The moment up to which permits are given away: the theoretical arrival time of GCRA, in one atomic word.
//!
//! The word is in ticks ([`Rate`]) of the clock, modulo 2^64. What lies ahead of the clock is given away already, and
//! nobody gives away more than 2^62 ticks; what lies behind it is as good as now. How far behind it is the word cannot
//! tell: after half of its range (292 years, where a nanosecond is a tick) what is past would look like what is to
//! come. So time has *eras* of 2^62 ticks. Whoever comes first in a new one says so in a second word, the era's last
//! nanosecond, which is only compared otherwise, and brings the first up to date.
//!
//! Invariants: the arrival is no earlier than the beginning of the era that is told, and no later than 2^62 ticks from
//! now. Who reads the era, then the arrival and then the clock has a moment after all that made either, but for the little
//! by which brisk clocks are behind; so within that era the two are less than half of the word's range apart.

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
    /// The last nanosecond of the era.
    era_ends: AtomicU64,
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
    word: u64,
}

impl Arrival {
    /// Nothing is given away. Half of what may lie ahead has to hold a burst, so that those who wait have the other.
    pub(super) fn of(quota: Quota) -> Result<Arrival, LimitError> {
        let rate = Rate::of(quota)?;
        let burst = u64::from(quota.burst.get()).checked_mul(rate.ticks_per_permit);
        let burst = burst.filter(|burst| *burst <= AHEAD / 2);
        let burst = burst.ok_or(LimitError::ImpossibleRate)?;
        let now = Moment::of(rate, clock::now_nanos());
        Ok(Arrival {
            rate,
            burst,
            arrival: AtomicU64::new(now.word),
            era_ends: AtomicU64::new(era_ends(rate, era(rate, now.nanos))),
        })
    }

    /// Permits that are there now, or until a deadline; else when they would be. A burst holds that many.
    #[inline]
    pub(super) fn reserve(&self, weight: NonZeroU32, until: Deadline) -> Result<Slot, Deadline> {
        let takes = u64::from(weight.get()) * self.rate.ticks_per_permit;
        loop {
            let era_ends = self.era_ends.load(Ordering::Acquire);
            let arrival = self.arrival.load(Ordering::Acquire);
            let now = Moment::of(self.rate, clock::brisk_nanos());
            if now.nanos > era_ends {
                self.begin_era(era_ends);
                continue;
            }
            let next = later(arrival, now.word).wrapping_add(takes);
            let ahead = next.wrapping_sub(now.word);
            let mut due = now.nanos;
            if ahead > self.burst {
                due = due.saturating_add(self.rate.whole_nanos(ahead - self.burst));
                if due > until.as_nanos() || ahead > AHEAD {
                    return Err(Deadline::from_nanos(due));
                }
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
        let era_ends = self.era_ends.load(Ordering::Acquire);
        let now = Moment::of(self.rate, clock::now_nanos());
        if now.nanos <= era_ends {
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
    fn begin_era(&self, old_ends: u64) {
        let now = Moment::of(self.rate, clock::now_nanos());
        let arrival = self.arrival.load(Ordering::Acquire);
        let is_told = self.era_ends.load(Ordering::Acquire) != old_ends;
        // A brisk clock may be ahead by a few nanoseconds.
        if is_told || now.nanos <= old_ends {
            return;
        }
        let new = era(self.rate, now.nanos);
        // What was given away in one era ends in the next.
        let kept = match new - era(self.rate, old_ends) {
            1 => later(arrival, now.word),
            _ => now.word,
        };
        let is_kept =
            self.arrival
                .compare_exchange(arrival, kept, Ordering::AcqRel, Ordering::Relaxed);
        if is_kept.is_ok() {
            let _ = self.era_ends.compare_exchange(
                old_ends,
                era_ends(self.rate, new),
                Ordering::Release,
                Ordering::Relaxed,
            );
        }
    }
}

impl Moment {
    #[inline]
    fn of(rate: Rate, nanos: u64) -> Moment {
        Moment {
            nanos,
            word: nanos.wrapping_mul(rate.ticks_per_nano),
        }
    }
}

/// Which era that nanosecond is in.
fn era(rate: Rate, nanos: u64) -> u64 {
    let ticks = u128::from(nanos) * u128::from(rate.ticks_per_nano);
    (ticks >> ERA) as u64
}

/// The last nanosecond of an era; the last on the clock where that is in it.
fn era_ends(rate: Rate, era: u64) -> u64 {
    let next = (u128::from(era) + 1) << ERA;
    let nanos = (next - 1) / u128::from(rate.ticks_per_nano);
    u64::try_from(nanos).unwrap_or(u64::MAX)
}

/// The later of two moments less than half of the word's range apart.
fn later(one: u64, other: u64) -> u64 {
    if one.wrapping_sub(other).cast_signed() > 0 {
        one
    } else {
        other
    }
}
