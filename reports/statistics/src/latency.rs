//! Percentiles of latency from the histograms of complete rounds.

use flowmeter_records::RunData;
use serde::{Deserialize, Serialize};

use super::histograms::{Percentile, merged, percentiles};
use super::samples::ScenarioSamples;
use super::tails::{Pooled, Tail, pooled};
use crate::error::StatisticsError;

/// Percentiles of an implementation's latencies in a scenario, over all complete rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyCurves {
    /// Which scenario.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// Messages timed.
    pub count: u64,
    /// From the intended moment of sending.
    pub response: Vec<Percentile>,
    /// From the actual moment of sending.
    pub service: Vec<Percentile>,
    /// The median, p99, p99.9 (of at least 10,000 messages) and the longest response, with intervals.
    pub tails: Vec<Tail>,
}

/// Adds the curves of a scenario, one for each implementation that recorded latencies and has a number.
///
/// # Errors
/// [`StatisticsError::Histogram`] for one that cannot be read.
pub fn curves(
    runs: &[RunData],
    samples: &ScenarioSamples,
    curves: &mut Vec<LatencyCurves>,
) -> Result<(), StatisticsError> {
    for (name, windows) in samples.with_number() {
        let of_all = || windows.values().copied();
        let pooled = pooled(samples, name);
        let response = match pooled {
            Some(pooled) => Some(pooled.all().clone()),
            None => merged(runs, of_all(), "response", |w| {
                w.latency.as_ref().map(|latency| &*latency.response)
            })?,
        };
        let service = merged(runs, of_all(), "service", |w| {
            w.latency.as_ref().map(|latency| &*latency.service)
        })?;
        if let (Some(response), Some(service)) = (response, service) {
            curves.push(LatencyCurves {
                scenario: samples.scenario.name.clone(),
                implementation: name.to_owned(),
                count: response.len(),
                response: percentiles(&response),
                service: percentiles(&service),
                tails: pooled.map_or(Vec::new(), Pooled::tails),
            });
        }
    }
    Ok(())
}
