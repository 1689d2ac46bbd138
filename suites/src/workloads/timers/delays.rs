//! How far ahead timers are due.

use flowmeter_harness::sync::Deadline;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

/// Of [`Delays::Far`], nanoseconds.
const FAR: std::ops::Range<u64> = 60_000_000_000..3_600_000_000_000;
/// Of the others, on average.
const MEAN: u64 = 1_000_000;

/// How far ahead timers are due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delays {
    /// A minute to an hour, each as likely: nobody sees it.
    #[default]
    Far,
    /// Up to two milliseconds, each as likely.
    Uniform,
    /// A millisecond on average: most are less, a few much more.
    Exponential,
    /// A millisecond: those armed at the same moment are due at the same moment.
    Equal,
}

impl Delays {
    /// As scenario files say it.
    pub const fn name(self) -> &'static str {
        match self {
            Delays::Far => "far",
            Delays::Uniform => "uniform",
            Delays::Exponential => "exponential",
            Delays::Equal => "equal",
        }
    }

    #[inline]
    fn nanos(self, random: &mut Pcg64Mcg) -> u64 {
        match self {
            Delays::Far => random.random_range(FAR),
            Delays::Uniform => random.random_range(0..2 * MEAN),
            Delays::Exponential => {
                let uniform: f64 = 1.0 - random.random::<f64>();
                (-uniform.ln() * MEAN as f64) as u64
            }
            Delays::Equal => MEAN,
        }
    }
}

/// Deadlines one after the other, the same in each process.
pub struct Deadlines {
    delays: Delays,
    random: Pcg64Mcg,
}

impl Deadlines {
    /// As far ahead as that.
    pub fn of(delays: Delays) -> Deadlines {
        Deadlines {
            delays,
            random: Pcg64Mcg::seed_from_u64(1),
        }
    }

    /// The next one, as of that moment.
    #[inline]
    pub fn after(&mut self, now: u64) -> Deadline {
        Deadline::from_nanos(now + self.delays.nanos(&mut self.random))
    }

    /// Which of so many is next.
    #[inline]
    pub fn one_of(&mut self, count: usize) -> usize {
        self.random.random_range(0..count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_ones_are_due_in_a_millisecond_on_average() {
        for delays in [Delays::Uniform, Delays::Exponential, Delays::Equal] {
            let mut deadlines = Deadlines::of(delays);
            let sum: u64 = (0..100_000).map(|_| deadlines.after(0).as_nanos()).sum();
            let mean = sum / 100_000;
            assert!((980_000..1_020_000).contains(&mean), "{delays:?}: {mean}");
        }
    }
}
