//! Deadlines that nobody lives to see.

use flowmeter_harness::sync::Deadline;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// How far ahead they are, nanoseconds: a minute to an hour, each as likely.
const FAR: std::ops::Range<u64> = 60_000_000_000..3_600_000_000_000;

/// Deadlines far away, one after the other, the same in each process.
pub struct Deadlines(Pcg64Mcg);

impl Deadlines {
    /// From the first on.
    pub fn far() -> Deadlines {
        Deadlines(Pcg64Mcg::seed_from_u64(1))
    }

    /// The next one, as of that moment.
    #[inline]
    pub fn after(&mut self, now: u64) -> Deadline {
        Deadline::from_nanos(now + self.0.random_range(FAR))
    }

    /// Which of so many is next.
    #[inline]
    pub fn one_of(&mut self, count: usize) -> usize {
        self.0.random_range(0..count)
    }
}
