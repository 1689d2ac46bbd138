//! A token bucket (Turner, "New directions in communications", 1986): it holds a burst of tokens, fills at the rate, and
//! a permit is a token taken out.
//!
//! Nobody fills it: whoever looks adds what has come since somebody last did. Its level is in ticks
//! (`rate.rs`), of which each nanosecond adds a whole number and each token is a whole number: nothing
//! is rounded, however often somebody looks, and a fraction of a token is kept. Who waits stands in a [`Line`], first
//! come, first served: the turn of one who gives up goes to those behind it, which the tickets of
//! [`gcra`](super::gcra) do not do, and what is granted takes a lock, which those of `gcra` do not.
//!
//! Invariant: what was granted between two moments came out of the bucket, which held a burst at most and was filled at
//! the rate meanwhile (L2).
//!
//! An acquisition of which nobody has heard is undone as long as it is the last. With another after it, it is forfeited:
//! the bucket does not remember whether it would have been full in between, and those tokens lost.

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

/// Tokens. No sum of a few overflows: 32 bits of tokens, or nanoseconds, of 64 bits each.
#[derive(Debug)]
pub struct Bucket {
    rate: Rate,
    /// Ticks when it is full.
    full: u128,
    /// Ticks, as of `filled`.
    level: u128,
    /// Nanoseconds.
    filled: u64,
    /// Acquisitions, but for those that were undone.
    taken: u64,
}

impl Bucket {
    fn ticks(&self, tokens: u64) -> u128 {
        u128::from(tokens) * u128::from(self.rate.ticks_per_permit)
    }
}

impl Supply for Bucket {
    /// How many acquisitions there were with it.
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

    /// Of the brisk clock. By as much as that is behind tokens are late at times, and what has been added up to one moment
    /// is added by none again.
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
