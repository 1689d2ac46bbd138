//! Resource usage and allocations of a process at a moment, and their difference over an interval.

use flowmeter_records::Counters;

use super::allocation::{self, Allocated};
use super::counters;
use super::usage::{self, Usage};

/// The cost of an interval to the process; each part where it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// CPU time and context switches.
    pub used: Option<Usage>,
    /// What the processor counted, where it does.
    pub counted: Option<Counters>,
    /// Allocations, in a process that counts them.
    pub allocated: Option<Allocated>,
}

impl Cost {
    /// The sum of both. A part that is unknown in either is unknown in the sum. Of the peaks of memory, the larger one.
    #[must_use]
    pub fn plus(self, other: Cost) -> Cost {
        Cost {
            used: self.used.zip(other.used).map(|(a, b)| a.plus(b)),
            counted: self.counted.zip(other.counted).map(|(a, b)| Counters {
                instructions: a.instructions + b.instructions,
                cache_misses: a.cache_misses + b.cache_misses,
            }),
            allocated: self.allocated.zip(other.allocated).map(|(a, b)| a.plus(b)),
        }
    }
}

/// Usage and allocations of the process at a moment of some clock.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// The moment, nanoseconds.
    pub nanos: u64,
    pub(super) used: Option<Usage>,
    pub(super) counted: Option<Counters>,
    pub(super) allocated: Option<allocation::Reading>,
}

impl Reading {
    /// A reading at the first edge of an interval.
    pub fn first(nanos: u64) -> Reading {
        Reading {
            nanos,
            used: usage::now(),
            counted: counters::now(),
            allocated: allocation::mark(),
        }
    }

    /// A reading at the second edge of an interval.
    pub fn last(nanos: u64) -> Reading {
        Reading {
            nanos,
            used: usage::now(),
            counted: counters::now(),
            allocated: allocation::now(),
        }
    }

    /// The cost between that first reading and this last one, scaled to `nanos` nanoseconds.
    pub fn since(&self, first: &Reading, nanos: u64) -> Cost {
        let factor = nanos as f64 / self.nanos.saturating_sub(first.nanos).max(1) as f64;
        let used = self.used.zip(first.used);
        let counted = self.counted.zip(first.counted);
        let scaled = |last: u64, first: u64| (last.saturating_sub(first) as f64 * factor) as u64;
        let allocated = self.allocated.zip(first.allocated);
        Cost {
            used: used.map(|(last, first)| last.since(first).scaled(factor)),
            counted: counted.map(|(last, first)| Counters {
                instructions: scaled(last.instructions, first.instructions),
                cache_misses: scaled(last.cache_misses, first.cache_misses),
            }),
            allocated: allocated.map(|(last, first)| last.since(first).scaled(factor)),
        }
    }
}
