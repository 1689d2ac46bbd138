//! How many tasks pipelines had in flight, against the requested number and their claims.

use flowmeter_records::{InFlight, RunData};
use serde::{Deserialize, Serialize};

use super::forks::median;
use super::samples::{ScenarioSamples, implementation};

/// Tasks of an implementation in flight in a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flight {
    /// Which scenario.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// The requested number of tasks at a time: n.
    pub parallelism: u64,
    /// How many it claims to have at most; absent without a claim.
    pub bound: Option<u64>,
    /// Most at one moment of any complete round.
    pub peak: u64,
    /// Mean over time: the median of the rounds.
    pub mean: f64,
    /// The number of complete rounds behind it.
    pub rounds: usize,
    /// The course of the first round, in which all worked through the same items. Each pair is a moment
    /// (nanoseconds since the first task) and the maximum until the next moment; the last pair is the end.
    pub timeline: Vec<(u64, u64)>,
}

impl Flight {
    /// Whether there were more at a time than it claims.
    pub fn is_over(&self) -> bool {
        self.bound.is_some_and(|bound| self.peak > bound)
    }
}

/// Adds those of a scenario, one for each implementation that recorded tasks and has a number.
pub fn flights(runs: &[RunData], samples: &ScenarioSamples, flights: &mut Vec<Flight>) {
    for (name, windows) in samples.with_number() {
        let found = windows.values();
        let found: Vec<&InFlight> = found
            .filter_map(|timed| timed.window.findings.in_flight.as_ref())
            .collect();
        let Some(first) = found.first() else {
            continue;
        };
        let over = implementation(runs, name).and_then(|it| bound_over_n(&it.caps));
        let means: Vec<f64> = found.iter().map(|it| it.mean).collect();
        flights.push(Flight {
            scenario: samples.scenario.name.clone(),
            implementation: name.to_owned(),
            parallelism: first.parallelism,
            bound: over.map(|over| first.parallelism + over),
            peak: found.iter().map(|it| it.peak).max().unwrap_or(0),
            mean: median(&means),
            rounds: found.len(),
            timeline: first.timeline.clone(),
        });
    }
}

/// The k of a claim `bound(n+k)`.
fn bound_over_n(caps: &[String]) -> Option<u64> {
    let of = |cap: &String| {
        cap.strip_prefix("bound(n+")?
            .strip_suffix(')')?
            .parse()
            .ok()
    };
    caps.iter().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_read_from_its_claim() {
        let caps = ["ordered", "bound(n+2)"].map(str::to_owned);
        assert_eq!(bound_over_n(&caps), Some(2));
        assert_eq!(bound_over_n(&caps[..1]), None);
        assert_eq!(bound_over_n(&["bound(n+x)".to_owned()]), None);
    }
}
