//! A token bucket (Turner, "New directions in communications", 1986). It holds at most a burst of tokens and fills at
//! the rate; a permit is a token taken out.
//!
//! No thread fills it: each operation adds the tokens that have come since the last one. The level is in ticks
//! (`rate.rs`). A nanosecond and a token are both whole numbers of ticks, so nothing is rounded however often the
//! bucket is read, and a fraction of a token is kept.
//!
//! Waiters stand in a [`Line`], first come, first served. The turn of a waiter that gives up goes to those behind it,
//! which the tickets of [`gcra`](super::gcra) cannot do. In exchange every grant takes a lock, which `gcra` does not.
//!
//! Invariant: what was granted between two moments came out of the bucket, which held a burst at most and was filled at
//! the rate meanwhile (L2).
//!
//! A grant that its waiter has not seen is undone as long as it is the last. With another grant after it, it is
//! forfeited: the bucket does not remember whether it would have been full in between, which would have lost those
//! tokens.

use std::num::NonZeroU32;

use flowmeter_harness::limiter::{LimitError, Quota};
use flowmeter_harness::sync::Deadline;

use super::line::{AsyncLine, Line, Supply};
use super::rate::Rate;
use crate::sync::clock;

/// A bucket of tokens, for threads.
pub type TokenBucket = Line<Bucket, true>;
/// The same for tasks that sleep on a timer `T`.
pub type AsyncTokenBucket<T> = AsyncLine<Bucket, T, true>;

/// The tokens, in ticks. No sum of a few terms overflows: each is a product of two numbers of at most 64 and 32 bits.
#[derive(Debug)]
pub struct Bucket {
    rate: Rate,
    /// Ticks of a full bucket.
    full: u128,
    /// Ticks in the bucket at the moment `filled`.
    level: u128,
    /// When `level` was computed, in nanoseconds.
    filled: u64,
    /// The number of acquisitions, without those that were undone.
    taken: u64,
}

impl Bucket {
    fn ticks(&self, tokens: u64) -> u128 {
        u128::from(tokens) * u128::from(self.rate.ticks_per_permit)
    }
}

impl Supply for Bucket {
    /// The value of `taken` after the acquisition.
    type Receipt = u64;

    fn of(quota: Quota) -> Result<Bucket, LimitError> {
        let mut bucket = Bucket {
            rate: Rate::of(quota)?,
            full: 0,
            level: 0,
            filled: clock::now_nanos(),
            taken: 0,
        };
        bucket.full = bucket.ticks(quota.burst.get().into());
        bucket.level = bucket.full;
        Ok(bucket)
    }

    fn collect(&mut self, now: u64) {
        let nanos = now - self.filled;
        let came = u128::from(nanos) * u128::from(self.rate.ticks_per_nano);
        self.level = (self.level + came).min(self.full);
        self.filled = now;
    }

    fn take(&mut self, weight: NonZeroU32, _now: u64) -> Option<u64> {
        let ticks = self.ticks(weight.get().into());
        self.level = self.level.checked_sub(ticks)?;
        self.taken += 1;
        Some(self.taken)
    }

    fn undo(&mut self, weight: NonZeroU32, receipt: u64) {
        if receipt == self.taken {
            self.taken -= 1;
            let ticks = self.ticks(weight.get().into());
            self.level = (self.level + ticks).min(self.full);
        }
    }

    /// Reads the brisk clock. Tokens come late by as much as that clock lags. No token is added twice, since a line
    /// never hands its supply a moment before the last.
    #[inline]
    fn now() -> u64 {
        clock::brisk_nanos()
    }

    fn earliest(&self, permits: u64, now: u64) -> Deadline {
        let missing = self.ticks(permits).saturating_sub(self.level);
        let nanos = missing.div_ceil(self.rate.ticks_per_nano.into());
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
        Deadline::from_nanos(now.saturating_add(nanos))
    }
}
