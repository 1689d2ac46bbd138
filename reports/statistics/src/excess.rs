//! How full the fullest period of a limiter was, as its callers saw it.

use flowmeter_records::{Excess, RunData};
use serde::{Deserialize, Serialize};

use super::forks::median;
use super::samples::{ScenarioSamples, implementation};

/// The fullest periods of an implementation in a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullestPeriod {
    /// Which scenario.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// Length of a period, nanoseconds.
    pub period_nanos: u64,
    /// Acquisitions that a period may hold.
    pub allowed: u64,
    /// Acquisitions in the fullest period of all complete rounds.
    pub worst: u64,
    /// Acquisitions in the fullest period of a round: the median of the rounds.
    pub typical: f64,
    /// The number of complete rounds behind it.
    pub rounds: usize,
    /// What the limiter promises.
    pub promise: Promise,
}

/// What a limiter promises about a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// No period, wherever it begins, holds more than allowed (L1).
    Window,
    /// The burst plus what the rate adds (L2).
    Rate,
    /// No claim.
    None,
}

impl Promise {
    fn of(caps: &[String]) -> Promise {
        let claims = |name: &str| caps.iter().any(|cap| cap == name);
        match (claims("window-bound"), claims("rate-bound")) {
            (true, _) => Promise::Window,
            (_, true) => Promise::Rate,
            _ => Promise::None,
        }
    }

    /// The most that a period may hold under it, over what is allowed: a burst is as large as a period's
    /// permits, and a period adds as many again.
    pub fn most(self) -> Option<f64> {
        match self {
            Promise::Window => Some(1.0),
            Promise::Rate => Some(2.0),
            Promise::None => None,
        }
    }
}

impl FullestPeriod {
    /// The worst over what is allowed.
    pub fn share(&self) -> f64 {
        self.worst as f64 / self.allowed as f64
    }
}

/// Adds those of a scenario, one for each implementation that recorded periods and has a number.
pub fn fullest(runs: &[RunData], samples: &ScenarioSamples, periods: &mut Vec<FullestPeriod>) {
    for (name, windows) in samples.with_number() {
        let found = windows.values();
        let found: Vec<Excess> = found
            .filter_map(|timed| timed.window.findings.excess)
            .filter(|excess| excess.allowed > 0)
            .collect();
        let Some(first) = found.first() else {
            continue;
        };
        let caps = implementation(runs, name).map(|it| &*it.caps);
        let worst: Vec<f64> = found.iter().map(|it| it.worst as f64).collect();
        periods.push(FullestPeriod {
            scenario: samples.scenario.name.clone(),
            implementation: name.to_owned(),
            period_nanos: first.period_nanos,
            allowed: first.allowed,
            worst: found.iter().map(|it| it.worst).max().unwrap_or(0),
            typical: median(&worst),
            rounds: found.len(),
            promise: Promise::of(caps.unwrap_or_default()),
        });
    }
}
