//! Progress events of a run.

use std::time::Duration;

use flowmeter_records::{Failure, Noise, Window};

/// A progress event.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The engine has looked at what is settled, and measures the rest again.
    Look {
        /// The look, from 1.
        look: u32,
        /// Number of looks, if something stays unsettled.
        of: u32,
        /// Implementations that are settled, each once for each scenario.
        settled: usize,
    },
    /// The budget is too small for more forks of some scenarios. They keep those that they have.
    Short {
        /// How many scenarios.
        scenarios: usize,
    },
    /// A scenario begins.
    Scenario {
        /// Its name.
        name: &'a str,
        /// Index of the scenario, from 0.
        index: usize,
        /// Number of scenarios.
        of: usize,
        /// Length of its windows.
        window: Duration,
    },
    /// A generation of processes begins.
    Fork {
        /// Its scenario.
        scenario: &'a str,
        /// Index of the fork, from 0.
        fork: u32,
    },
    /// An implementation has proved itself and will be timed.
    Proved {
        /// Its scenario.
        scenario: &'a str,
        /// The implementation.
        implementation: &'a str,
    },
    /// A round begins.
    Round {
        /// Its scenario.
        scenario: &'a str,
        /// Index of the round, from 0, over all forks.
        round: u32,
        /// Number of rounds.
        of: u32,
    },
    /// A window was timed.
    Window {
        /// The window as in the records.
        window: &'a Window,
        /// Progress of the run.
        standing: Standing,
    },
    /// A cell has no result.
    Failure {
        /// The failure as in the records.
        failure: &'a Failure,
        /// Progress of the run.
        standing: Standing,
    },
    /// An implementation's allocations could not be counted; its timed results stand.
    Uncounted {
        /// Its scenario.
        scenario: &'a str,
        /// The implementation.
        implementation: &'a str,
        /// Why, in a sentence.
        why: &'a str,
    },
    /// The machine's noise was watched.
    Noise(&'a Noise),
    /// A scenario was dropped because the budget is too small ([`RULE`](super::budget::RULE)).
    Dropped {
        /// Its name.
        scenario: &'a str,
    },
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Windows timed, those of an earlier part of a resumed run included.
    pub done: u64,
    /// Windows still expected: an implementation that fails has none.
    pub to_come: u64,
    /// Estimated time for them.
    pub time_left: Duration,
}

/// Receives progress events.
pub trait Progress {
    /// Handles an event. No window is timed meanwhile, so this may draw.
    fn event(&mut self, event: &Event<'_>);
}

impl<F: FnMut(&Event<'_>)> Progress for F {
    fn event(&mut self, event: &Event<'_>) {
        self(event);
    }
}

/// Ignores all events.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn event(&mut self, _: &Event<'_>) {}
}
