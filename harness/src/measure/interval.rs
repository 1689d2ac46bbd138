//! The timed interval of a window whose operations know their own moments: timers, grants, tasks.
//!
//! Where threads work without a pause, [`Edges`](super::edges) divide their chunks at the edges of a window.
//! Here nothing has to be divided: an operation belongs to the window when its moment does. The thread that
//! asked for the window sleeps through ramp and window, and reads what the process used at both edges.
//!
//! Moments are those of the std world's clock, on which deadlines are set.

use std::thread;

use super::usage::{self, Usage};
use super::{Sample, WindowSpec};
use crate::record::Findings;
use crate::sync::Deadline;
use crate::sync::std::clock;

/// A window's interval on the std world's clock.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    first: u64,
    last: u64,
}

impl Interval {
    /// The ramp begins now.
    pub fn begin(spec: &WindowSpec) -> Interval {
        let first = clock::now_nanos().saturating_add(spec.ramp_nanos);
        Interval {
            first,
            last: first.saturating_add(spec.nanos.max(1)),
        }
    }

    /// Whether that moment lies between the edges.
    #[inline]
    pub fn holds(&self, nanos: u64) -> bool {
        (self.first..self.last).contains(&nanos)
    }

    /// Whether the second edge has passed at that moment.
    #[inline]
    pub fn is_over(&self, nanos: u64) -> bool {
        nanos >= self.last
    }

    /// Length, nanoseconds.
    pub fn nanos(&self) -> u64 {
        self.last - self.first
    }

    /// Sleeps until the second edge; answers what the process used between the edges, scaled from the interval
    /// between the two readings. `None` where the system does not say.
    pub fn sleep_through(&self) -> Option<Usage> {
        let (before, at_first) = read_at(self.first);
        let (after, at_last) = read_at(self.last);
        let apart = at_last.saturating_sub(at_first).max(1);
        Some(
            after?
                .since(before?)
                .scaled(self.nanos() as f64 / apart as f64),
        )
    }
}

/// What the process has used, read as soon after that moment as the system wakes this thread.
fn read_at(nanos: u64) -> (Option<Usage>, u64) {
    while let Some(left) = clock::left(Deadline::from_nanos(nanos)).filter(|left| !left.is_zero()) {
        thread::sleep(left);
    }
    (usage::now(), clock::now_nanos())
}

/// The sample of so many operations within that time, whose value is `value`.
pub fn sample(value: f64, operations: u64, nanos: u64, used: Option<Usage>) -> Sample {
    Sample {
        value,
        operations,
        nanos,
        cpu_nanos: used.map(|used| used.cpu_nanos),
        voluntary_switches: used.map(|used| used.voluntary_switches),
        involuntary_switches: used.map(|used| used.involuntary_switches),
        unsustained: None,
        generator_p99_nanos: None,
        latency: None,
        findings: Findings::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_begins_after_its_ramp_and_is_as_long_as_its_window() {
        let spec = WindowSpec {
            ramp_nanos: 1_000_000,
            nanos: 3_000_000,
            slowed_percent: None,
            seed: 1,
        };
        let now = clock::now_nanos();
        let interval = Interval::begin(&spec);
        assert!(!interval.holds(now));
        assert!(interval.first >= now + spec.ramp_nanos);
        assert_eq!(interval.nanos(), spec.nanos);
        interval.sleep_through();
        assert!(interval.is_over(clock::now_nanos()));
    }
}
