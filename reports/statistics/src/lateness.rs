//! How late timers fired, from the histograms of complete rounds.

use flowmeter_records::{Lateness, RunData, Window};
use serde::{Deserialize, Serialize};

use super::histograms::{Percentile, merged, percentiles};
use super::samples::ScenarioSamples;
use super::tails::{Pooled, Tail, pooled};
use crate::error::StatisticsError;

/// Percentiles of an implementation's lateness in a scenario, over all complete rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatenessCurves {
    /// Which scenario.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// Firings at or after their deadline.
    pub count: u64,
    /// Firings before their deadline; they are in no percentile.
    pub early: u64,
    /// From the deadline to the call.
    pub called: Vec<Percentile>,
    /// The median, p99, p99.9 (of at least 10,000 firings) and the latest call, with intervals. Empty where the scenario
    /// is of another quantity.
    pub tails: Vec<Tail>,
    /// From the deadline to the moment at which the timer noticed; empty where the design does not
    /// report it.
    pub claimed: Vec<Percentile>,
}

/// Adds the curves of a scenario, one for each implementation that recorded lateness and has a number.
///
/// # Errors
/// [`StatisticsError::Histogram`] for one that cannot be read.
pub fn curves(
    runs: &[RunData],
    samples: &ScenarioSamples,
    curves: &mut Vec<LatenessCurves>,
) -> Result<(), StatisticsError> {
    fn found(window: &Window) -> Option<&Lateness> {
        window.findings.lateness.as_ref()
    }
    for (name, windows) in samples.with_number() {
        let of_all = || windows.values().copied();
        let pooled = pooled(samples, name);
        let called = merged(runs, of_all(), "lateness", |w| Some(&*found(w)?.called))?;
        let claimed = merged(runs, of_all(), "claimed lateness", |w| {
            found(w)?.claimed.as_deref()
        })?;
        if let Some(called) = called {
            curves.push(LatenessCurves {
                scenario: samples.scenario.name.clone(),
                implementation: name.to_owned(),
                count: called.len(),
                early: of_all().filter_map(|t| Some(found(t.window)?.early)).sum(),
                called: percentiles(&called),
                tails: pooled.map_or(Vec::new(), Pooled::tails),
                claimed: claimed.as_ref().map(percentiles).unwrap_or_default(),
            });
        }
    }
    Ok(())
}
