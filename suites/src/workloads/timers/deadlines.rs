//! Deadlines that nobody lives to see.

use std::ops::Range;

use flowmeter_harness::sync::Deadline;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// How far ahead they are, nanoseconds: a minute to an hour, each as likely.
const FAR: Range<u64> = 60_000_000_000..3_600_000_000_000;

/// How far those are that come before all of these, for as long as these were armed half a minute ago at most: two seconds to
/// thirty.
const SOON: Range<u64> = 2_000_000_000..30_000_000_000;

/// Deadlines far away, one after the other, the same in each process.
pub struct Deadlines {
    ahead: Range<u64>,
    random: Pcg64Mcg,
}

impl Deadlines {
    /// From the first on.
    pub fn far() -> Deadlines {
        Deadlines {
            ahead: FAR,
            random: Pcg64Mcg::seed_from_u64(1),
        }
    }

    /// Others, each of them before all that are far.
    pub fn soon() -> Deadlines {
        Deadlines {
            ahead: SOON,
            ..Deadlines::far()
        }
    }

    /// The next one, as of that moment.
    #[inline]
    pub fn after(&mut self, now: u64) -> Deadline {
        Deadline::from_nanos(now + self.random.random_range(self.ahead.clone()))
    }

    /// Which of so many is next.
    #[inline]
    pub fn one_of(&mut self, count: usize) -> usize {
        self.random.random_range(0..count)
    }
}
