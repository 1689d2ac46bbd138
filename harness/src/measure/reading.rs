//! What a process had used and allocated at a moment, and what that makes of an interval.

use super::allocation::{self, Allocated};
use super::usage::{self, Usage};

/// What an interval cost the process; each part where it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// CPU time and context switches.
    pub used: Option<Usage>,
    /// Allocations, in a process that counts them.
    pub allocated: Option<Allocated>,
}

impl Cost {
    /// Of both together; what one does not know, both do not. Of memory held, the larger.
    #[must_use]
    pub fn plus(self, other: Cost) -> Cost {
        Cost {
            used: self.used.zip(other.used).map(|(a, b)| a.plus(b)),
            allocated: self.allocated.zip(other.allocated).map(|(a, b)| a.plus(b)),
        }
    }
}

/// What the process had used and allocated at a moment of some clock.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// That moment, nanoseconds.
    pub nanos: u64,
    pub(super) used: Option<Usage>,
    pub(super) allocated: Option<allocation::Reading>,
}

impl Reading {
    /// At the first edge of an interval.
    pub fn first(nanos: u64) -> Reading {
        Reading {
            nanos,
            used: usage::now(),
            allocated: allocation::mark(),
        }
    }

    /// At its second edge.
    pub fn last(nanos: u64) -> Reading {
        Reading {
            nanos,
            used: usage::now(),
            allocated: allocation::now(),
        }
    }

    /// What it cost between that first reading and this last one, scaled to so many nanoseconds.
    pub fn since(&self, first: &Reading, nanos: u64) -> Cost {
        let factor = nanos as f64 / self.nanos.saturating_sub(first.nanos).max(1) as f64;
        let used = self.used.zip(first.used);
        let allocated = self.allocated.zip(first.allocated);
        Cost {
            used: used.map(|(last, first)| last.since(first).scaled(factor)),
            allocated: allocated.map(|(last, first)| last.since(first).scaled(factor)),
        }
    }
}
