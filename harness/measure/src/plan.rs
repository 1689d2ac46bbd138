//! What a run shall measure.

use std::collections::HashSet;
use std::time::Duration;

use super::budget::Budget;
use super::error::MeasureError;
use super::stage::StageError;
use flowmeter_records::{Build, Implementation, Proof, Run, Scenario, Uncontended};

/// Enough for threads to start, buffers to fill and branch predictors to learn.
pub const USUAL_RAMP: Duration = Duration::from_millis(10);
/// Enough operations to determine the allocations of each, and short beside the timed windows.
pub const USUAL_ALLOCATION_WINDOW: Duration = Duration::from_millis(20);
/// Time limit of a proof; a quick one takes a fraction of a second.
pub const USUAL_PROVE_LIMIT: Duration = Duration::from_secs(30);
/// Time limit of a window beyond its length: waking threads one after the other takes time.
pub const USUAL_WINDOW_LIMIT: Duration = Duration::from_secs(10);

/// A run to be measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The first line of the records. Its seed, forks, rounds and window length control the run.
    pub run: Run,
    /// Untimed work before each window.
    pub ramp: Duration,
    /// Time limit for preparing and proving an implementation.
    pub prove_limit: Duration,
    /// Time limit for a window, beyond its ramp and length.
    pub window_limit: Duration,
    /// How long to watch the machine's noise before the first window; zero skips it, and the probe before each round.
    pub noise_watch: Duration,
    /// Length of the window in which each implementation's allocations are counted, in a process of its own after the
    /// scenario has been timed. `None` skips the count.
    pub allocation_window: Option<Duration>,
    /// Refuse to measure on a machine that is not quiet.
    pub strict: bool,
    /// A fork of a scenario ends early once the windows of each entry have taken this long. Windows last longer than asked
    /// where a workload needs more of them, for tails.
    pub fork_limit: Option<Duration>,
    /// Fit the windows into this time instead of taking [`Run::window_nanos`].
    pub budget: Option<Budget>,
    /// The implementations that take part.
    pub implementations: Vec<Implementation>,
    /// Proofs from before the run.
    pub proofs: Vec<Proof>,
    /// Criterion's timings from before the run.
    pub uncontended: Vec<Uncontended>,
    /// Scenarios in the order in which they run; with a budget the most important come first.
    pub planned_scenarios: Vec<PlannedScenario>,
}

/// A scenario and its entries.
#[derive(Clone, Debug)]
pub struct PlannedScenario {
    /// The scenario as in the records.
    pub scenario: Scenario,
    /// The scenario as sent to the implementations' processes; opaque to the engine.
    pub spec: serde_json::Value,
    /// The entries that run it.
    pub entries: Vec<Entry>,
}

/// One implementation of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of the implementation.
    pub implementation: String,
    /// The second entry of the same implementation; how far it is off checks the health of the run.
    pub placebo: bool,
    /// A copy slowed on purpose by that many percent.
    pub slowed_percent: Option<u32>,
    /// The build that times it, if it is not the one of the run. Such an entry follows the entry of the same
    /// implementation that it is compared with, and the two are timed one after the other.
    pub build: Option<Build>,
    /// Why it is not timed, such as a failed property. It gets a row with this reason, and no window.
    pub kept_out: Option<StageError>,
}

/// Distinguishes the entries of one scenario.
pub(super) type EntryKey = (String, bool, Option<u32>, Option<Build>);

impl Entry {
    /// The unmodified implementation.
    pub fn new(implementation: impl Into<String>) -> Entry {
        Entry {
            implementation: implementation.into(),
            placebo: false,
            slowed_percent: None,
            build: None,
            kept_out: None,
        }
    }

    /// A second entry of the same implementation.
    pub fn placebo(implementation: impl Into<String>) -> Entry {
        Entry {
            placebo: true,
            ..Entry::new(implementation)
        }
    }

    /// A second entry of the same implementation, timed by the base build.
    pub fn base(implementation: impl Into<String>) -> Entry {
        Entry {
            build: Some(Build::Base),
            ..Entry::new(implementation)
        }
    }

    pub(super) fn key(&self) -> EntryKey {
        (
            self.implementation.clone(),
            self.placebo,
            self.slowed_percent,
            self.build,
        )
    }
}

impl Plan {
    /// Rounds of a scenario over all forks.
    pub fn total_rounds(&self) -> u32 {
        self.rounds_until(self.run.looks)
    }

    /// Rounds of a scenario over all forks until that look, counted from 1.
    pub fn rounds_until(&self, look: u32) -> u32 {
        let later = self.run.looks.saturating_sub(look);
        let forks = self.run.forks.checked_shr(later).unwrap_or(0);
        forks.saturating_mul(self.run.rounds)
    }

    /// Whether it can be measured.
    ///
    /// # Errors
    /// [`MeasureError::Plan`] with the first thing that is wrong.
    pub fn check(&self) -> Result<(), MeasureError> {
        let refuse = |message: String| Err(MeasureError::Plan(message));
        if self.run.forks == 0 {
            return refuse("0 forks measure nothing; ask for at least 1".to_owned());
        }
        if self.run.rounds == 0 {
            return refuse("0 rounds measure nothing; ask for at least 1".to_owned());
        }
        if self.run.forks.checked_mul(self.run.rounds).is_none() {
            return refuse(format!(
                "{} forks of {} rounds are more than can be counted; ask for fewer",
                self.run.forks, self.run.rounds
            ));
        }
        if self.run.looks == 0 || self.rounds_until(1) == 0 {
            return refuse(format!(
                "{} forks cannot be looked at {} times, each time after twice as many; ask for more forks",
                self.run.forks, self.run.looks
            ));
        }
        if self.run.window_nanos == 0 {
            return refuse(
                "a window of length 0 measures nothing; ask for some milliseconds".to_owned(),
            );
        }
        if self.planned_scenarios.is_empty() {
            return refuse("no scenario is left to measure; widen the selection".to_owned());
        }
        let known: HashSet<&str> = self
            .implementations
            .iter()
            .map(|i| i.name.as_str())
            .collect();
        let mut scenarios = HashSet::new();
        for planned in &self.planned_scenarios {
            let name = &planned.scenario.name;
            if !scenarios.insert(name) {
                return refuse(format!("the scenario {name} stands twice in the plan"));
            }
            if planned.entries.is_empty() {
                return refuse(format!(
                    "no implementation is left to run {name}; widen the selection"
                ));
            }
            let mut entries = HashSet::new();
            for entry in &planned.entries {
                let implementation = &entry.implementation;
                if !known.contains(implementation.as_str()) {
                    return refuse(format!(
                        "{name} names {implementation}, which does not take part"
                    ));
                }
                if !entries.insert(entry.key()) {
                    return refuse(format!("{implementation} is entered twice in {name}"));
                }
                if entry.slowed_percent.is_some_and(|p| p >= 100) {
                    return refuse(format!(
                        "{implementation} in {name} cannot be slowed by 100 percent or more"
                    ));
                }
            }
        }
        Ok(())
    }
}
