//! Deadlines that are not reached during a run.

use std::ops::Range;

use flowmeter_harness::sync::Deadline;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// How far ahead they are in nanoseconds: a minute to an hour, uniformly.
const FAR: Range<u64> = 60_000_000_000..3_600_000_000_000;

/// How far ahead those are that come before all of these: two to thirty seconds. It holds as long as these were armed
/// at most half a minute ago.
const SOON: Range<u64> = 2_000_000_000..30_000_000_000;

/// Deadlines far ahead, the same sequence in each process.
pub struct Deadlines {
    ahead: Range<u64>,
    random: Pcg64Mcg,
}

impl Deadlines {
    /// From the first one.
    pub fn far() -> Deadlines {
        Deadlines {
            ahead: FAR,
            random: Pcg64Mcg::seed_from_u64(1),
        }
    }

    /// Deadlines before all the far ones.
    pub fn soon() -> Deadlines {
        Deadlines {
            ahead: SOON,
            ..Deadlines::far()
        }
    }

    /// The next one, relative to that moment.
    #[inline]
    pub fn after(&mut self, now: u64) -> Deadline {
        Deadline::from_nanos(now + self.random.random_range(self.ahead.clone()))
    }

    /// Draws the next index below `count`.
    #[inline]
    pub fn one_of(&mut self, count: usize) -> usize {
        self.random.random_range(0..count)
    }
}
