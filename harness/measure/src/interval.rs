//! The timed interval of a window of operations that have moments of their own: timers, grants, tasks.
//!
//! Where threads work without a pause, [`Edges`](super::edges) divide their chunks at the edges of a window. Here
//! nothing is divided: an operation belongs to the window if its moment does. The thread that requested the window
//! sleeps through ramp and window, and reads the usage of the process at both edges.
//!
//! Moments are those of the std world's clock, on which deadlines are set.

use std::thread;

use super::WindowSpec;
use super::reading::{Cost, Reading};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;

/// A window's interval on the std world's clock.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    began: u64,
    first: u64,
    last: u64,
}

impl Interval {
    /// Starts the ramp now.
    pub fn begin(spec: &WindowSpec) -> Interval {
        let began = clock::now_nanos();
        let first = began.saturating_add(spec.ramp_nanos);
        Interval {
            began,
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

    /// When the ramp began, on the std world's clock.
    pub fn began_nanos(&self) -> u64 {
        self.began
    }

    /// The first edge, on the std world's clock.
    pub fn first_nanos(&self) -> u64 {
        self.first
    }

    /// Length, nanoseconds.
    pub fn nanos(&self) -> u64 {
        self.last - self.first
    }

    /// Sleeps until the second edge. Returns the cost between the edges, scaled from the interval between two readings.
    /// Each reading is taken as soon after its edge as the system wakes this thread.
    pub fn sleep_through(&self) -> Cost {
        sleep_until(self.first);
        let first = Reading::first(clock::now_nanos());
        sleep_until(self.last);
        Reading::last(clock::now_nanos()).since(&first, self.nanos())
    }
}

fn sleep_until(nanos: u64) {
    while let Some(left) = clock::left(Deadline::from_nanos(nanos)).filter(|left| !left.is_zero()) {
        thread::sleep(left);
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
