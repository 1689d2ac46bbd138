//! Computes the length of windows when the whole run has to fit into a given time.
//!
//! The window is the rest of the budget, less the overhead (starting processes, proving, ramps), divided by the number
//! of remaining windows. Where that falls below [`SHORTEST_WINDOW`], or a shorter one that was asked for, scenarios are
//! dropped by [`RULE`]. All entries of a scenario get windows of the same length. The length is recomputed before each
//! scenario from the cost of the run so far.

use std::time::Duration;

/// Shorter windows measure the edges more than the work, so a budget makes none, unless shorter ones were asked for.
pub const SHORTEST_WINDOW: Duration = Duration::from_millis(50);

/// The rule by which scenarios are dropped, as text for messages.
pub const RULE: &str = "whole scenarios are dropped from the end of the list, where the least important stand, \
                        until the windows of the others are at least 50 ms, or as long as asked";

/// The time that a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// In total, from the start of the run. A resumed part has what earlier parts left, and at least a tenth.
    pub total: Duration,
    /// Upper limit of a window, however much time there is.
    pub longest_window: Duration,
}

/// What a scenario requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Windows: entries times rounds through all forks.
    pub windows: u64,
    /// Processes: entries times forks.
    pub processes: u64,
}

/// The cost of a window and of a process, besides measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// Per window, beyond its length: the ramp, stopping, verifying, the records.
    pub window: Duration,
    /// Per process: starting, preparing, proving.
    pub process: Duration,
}

/// What a budget allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allotment {
    /// Length of each window.
    pub window: Duration,
    /// Number of scenarios from the start of the list that are measured; the others are dropped.
    pub kept: usize,
}

/// Divides the remaining time among the remaining scenarios, the most important first.
///
/// If not even one fits, none is kept.
pub fn allot(
    left: Duration,
    longest_window: Duration,
    scenarios: &[Demand],
    overhead: Overhead,
) -> Allotment {
    let shortest_window = SHORTEST_WINDOW.min(longest_window);
    (1..=scenarios.len())
        .rev()
        .find_map(|kept| {
            let windows: u64 = scenarios[..kept].iter().map(|d| d.windows).sum();
            let processes: u64 = scenarios[..kept].iter().map(|d| d.processes).sum();
            let spent = overhead.window.as_secs_f64() * windows as f64
                + overhead.process.as_secs_f64() * processes as f64;
            let window = (left.as_secs_f64() - spent) / windows.max(1) as f64;
            (window >= shortest_window.as_secs_f64()).then(|| Allotment {
                // A value that does not fit a Duration exceeds any window.
                window: Duration::try_from_secs_f64(window)
                    .unwrap_or(Duration::MAX)
                    .min(longest_window),
                kept,
            })
        })
        .unwrap_or(Allotment {
            window: shortest_window,
            kept: 0,
        })
}

/// The cost of a run so far, from which the cost of the rest is estimated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    windows: u32,
    window_overhead: Duration,
    processes: u32,
    process_time: Duration,
    ramp: Duration,
}

/// Assumed cost of a process before any was started.
const FIRST_PROCESS: Duration = Duration::from_millis(200);

impl Pace {
    pub(super) fn new(ramp: Duration) -> Pace {
        Pace {
            windows: 0,
            window_overhead: Duration::ZERO,
            processes: 0,
            process_time: Duration::ZERO,
            ramp,
        }
    }

    pub(super) fn window_took(&mut self, wall: Duration, window: Duration) {
        self.windows += 1;
        self.window_overhead += wall.saturating_sub(window);
    }

    /// Accounts for time that belongs to no single window, such as that of a probe.
    pub(super) fn round_took(&mut self, more: Duration) {
        self.window_overhead += more;
    }

    pub(super) fn processes_took(&mut self, wall: Duration, processes: usize) {
        self.processes += u32::try_from(processes).unwrap_or(u32::MAX);
        self.process_time += wall;
    }

    pub(super) fn overhead(&self) -> Overhead {
        Overhead {
            window: self
                .window_overhead
                .checked_div(self.windows)
                .unwrap_or(self.ramp),
            process: self
                .process_time
                .checked_div(self.processes)
                .unwrap_or(FIRST_PROCESS),
        }
    }

    /// How long the given demand will take.
    pub(super) fn left(&self, demand: Demand, window: Duration) -> Duration {
        let overhead = self.overhead();
        let seconds = (overhead.window + window).as_secs_f64() * demand.windows as f64
            + overhead.process.as_secs_f64() * demand.processes as f64;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERHEAD: Overhead = Overhead {
        window: Duration::from_millis(20),
        process: Duration::from_millis(100),
    };
    /// 100 windows and 10 processes: 3 s of overhead.
    const DEMAND: Demand = Demand {
        windows: 100,
        processes: 10,
    };
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn windows_share_what_is_left_after_overheads() {
        let allotment = allot(SECOND * 26, SECOND, &[DEMAND, DEMAND], OVERHEAD);
        assert_eq!(
            allotment,
            Allotment {
                window: Duration::from_millis(100),
                kept: 2,
            }
        );
    }

    #[test]
    fn scenarios_are_dropped_from_the_end_where_windows_get_too_short() {
        // Three would have 17 ms each, two 65 ms.
        let allotment = allot(SECOND * 19, SECOND, &[DEMAND; 3], OVERHEAD);
        assert_eq!(
            allotment,
            Allotment {
                window: Duration::from_millis(65),
                kept: 2,
            }
        );
    }

    #[test]
    fn exactly_the_shortest_window_still_fits() {
        let allotment = allot(SECOND * 8, SECOND, &[DEMAND], OVERHEAD);
        assert_eq!(allotment.kept, 1);
        assert_eq!(allotment.window, SHORTEST_WINDOW);
        let allotment = allot(SECOND * 8 - SECOND / 100, SECOND, &[DEMAND], OVERHEAD);
        assert_eq!(allotment.kept, 0);
    }

    #[test]
    fn time_to_spare_does_not_make_windows_longer_than_useful() {
        let allotment = allot(SECOND * 3600, SECOND / 2, &[DEMAND], OVERHEAD);
        assert_eq!(allotment.window, SECOND / 2);
        let allotment = allot(
            Duration::MAX,
            Duration::MAX,
            &[Demand {
                windows: 1,
                processes: 0,
            }],
            OVERHEAD,
        );
        assert_eq!(allotment.kept, 1);
    }

    #[test]
    fn the_pace_is_what_was_seen() {
        let mut pace = Pace::new(Duration::from_millis(20));
        assert_eq!(pace.overhead().window, Duration::from_millis(20));
        pace.window_took(Duration::from_millis(130), Duration::from_millis(100));
        pace.window_took(Duration::from_millis(150), Duration::from_millis(100));
        pace.processes_took(SECOND, 4);
        assert_eq!(
            pace.overhead(),
            Overhead {
                window: Duration::from_millis(40),
                process: Duration::from_millis(250),
            }
        );
        assert_eq!(
            pace.left(DEMAND, Duration::from_millis(60)),
            Duration::from_millis(12_500)
        );
    }
}
