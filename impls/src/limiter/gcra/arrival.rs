//! The moment up to which permits are given away: the theoretical arrival time of GCRA, in one atomic word.
//!
//! ```text
//!             63                                                       0
//!            +---------------------------------------------------------+
//! arrival    | moment up to which permits are given away, ticks % 2^64 |
//!            +---------------------------------------------------------+
//! era_ends   | last nanosecond of the current era                      |
//!            +---------------------------------------------------------+
//! ```
//!
//! Ticks are those of the [`Rate`]; the clock is read in ticks modulo 2^64 too. Whether the arrival is ahead of the
//! clock is the sign of their wrapping difference (`later`). An arrival ahead of the clock is time given away already,
//! at most 2^62 ticks of it. An arrival behind the clock counts as now. After half of the word's range (292 years,
//! where a nanosecond is a tick) a past arrival would look like a future one. So time is divided into *eras* of 2^62
//! ticks. The first caller in a new era brings the arrival up to date and then stores the era's last nanosecond in
//! `era_ends`. All other callers only compare that second word with the clock.
//!
//! Invariants: the arrival is no earlier than the beginning of the stored era, and no later than 2^62 ticks from now. A
//! caller reads the era, then the arrival, then the clock. So its clock reading is later than those that made either
//! word, except for the small lag of brisk clocks. Within the era the two are then less than half of the word's range
//! apart.

use std::num::NonZeroU32;

use flowmeter_harness::limiter::{LimitError, Quota};
use flowmeter_harness::sync::Deadline;

use super::super::rate::Rate;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::clock;

/// The number of ticks in an era, as a power of two.
const ERA: u32 = 62;
/// How far ahead of the clock permits are given away at most, in ticks.
const AHEAD: u64 = 1 << ERA;

#[derive(Debug)]
pub(super) struct Arrival {
    rate: Rate,
    /// Ticks that the burst takes.
    burst: u64,
    arrival: AtomicU64,
    /// The last nanosecond of the era.
    era_ends: AtomicU64,
}

/// A ticket: permits that belong to one caller from the moment `due` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) due: Deadline,
    /// The arrival that it left behind.
    arrival: u64,
    /// Ticks that its permits take.
    takes: u64,
}

/// A moment in nanoseconds, and in ticks modulo 2^64.
#[derive(Clone, Copy)]
struct Moment {
    nanos: u64,
    word: u64,
}

impl Arrival {
    /// Nothing is given away yet. A burst may take at most half of `AHEAD`, so that waiters have the other half.
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

    /// Reserves permits that are there now, or by a deadline; else returns when they would be. The weight is at most
    /// the burst.
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

    /// Gives up a slot. The last slot is given away again. A slot with others behind it is forfeited, since they sleep
    /// to slots of their own.
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

    /// Brings the arrival up to date, and then stores the new era. A thread that reads the new era reads the arrival
    /// after it. So between the two writes only threads that see the old era give permits away, on a clock that is
    /// still in it.
    fn begin_era(&self, old_ends: u64) {
        let now = Moment::of(self.rate, clock::now_nanos());
        let arrival = self.arrival.load(Ordering::Acquire);
        let is_told = self.era_ends.load(Ordering::Acquire) != old_ends;
        // A brisk clock may be ahead by a few nanoseconds.
        if is_told || now.nanos <= old_ends {
            return;
        }
        let new = era(self.rate, now.nanos);
        // Permits given away in one era end in the next.
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

/// The number of the era that contains that nanosecond.
fn era(rate: Rate, nanos: u64) -> u64 {
    let ticks = u128::from(nanos) * u128::from(rate.ticks_per_nano);
    (ticks >> ERA) as u64
}

/// The last nanosecond of an era, or the last that the clock can hold.
fn era_ends(rate: Rate, era: u64) -> u64 {
    let next = (u128::from(era) + 1) << ERA;
    let nanos = (next - 1) / u128::from(rate.ticks_per_nano);
    u64::try_from(nanos).unwrap_or(u64::MAX)
}

/// The later of two moments that are less than half of the word's range apart.
fn later(one: u64, other: u64) -> u64 {
    // The cast wraps, too.
    if (one.wrapping_sub(other) as i64) > 0 {
        one
    } else {
        other
    }
}
