//! Percentiles of latency from the histograms of complete rounds.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flowmeter_harness::record::{RECORDS_FILE, RunData, Window};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

use super::estimates::{LatencyCurves, Percentile};
use super::samples::{Entry, ScenarioSamples, Timed};
use crate::error::ReportError;

/// Samples that must lie above a percentile for it to be shown.
const SAMPLES_ABOVE: f64 = 10.0;

/// Percentiles along the axis 1/(1-p): a few in each decade.
fn quantiles() -> impl Iterator<Item = f64> {
    const STEPS: [f64; 6] = [1.0, 1.4, 2.0, 3.0, 4.0, 6.5];
    (0..7).flat_map(|decade| {
        STEPS
            .iter()
            .map(move |step| 1.0 - 1.0 / (step * 10_f64.powi(decade)))
    })
}

/// Adds the curves of a scenario, one for each implementation that recorded latencies and has a number.
///
/// # Errors
/// [`ReportError::Histogram`] for one that cannot be read.
pub fn curves(
    runs: &[RunData],
    samples: &ScenarioSamples,
    curves: &mut Vec<LatencyCurves>,
) -> Result<(), ReportError> {
    let mut deserializer = Deserializer::new();
    for (&(name, entry), windows) in &samples.windows {
        if entry != Entry::Original || !samples.has_number(name) {
            continue;
        }
        let mut merged: BTreeMap<&'static str, Histogram<u64>> = BTreeMap::new();
        for &Timed { run, window } in windows.values() {
            let Some(latency) = &window.latency else {
                continue;
            };
            for (which, text) in [
                ("response", &latency.response),
                ("service", &latency.service),
            ] {
                let refuse = |reason: String| unreadable(&runs[run], window, which, reason);
                let histogram = decode(&mut deserializer, text).map_err(&refuse)?;
                match merged.get_mut(which) {
                    Some(sum) => sum.add(&histogram).map_err(|e| refuse(e.to_string()))?,
                    None => drop(merged.insert(which, histogram)),
                }
            }
        }
        if let (Some(response), Some(service)) = (merged.get("response"), merged.get("service")) {
            curves.push(LatencyCurves {
                scenario: samples.scenario.name.clone(),
                implementation: name.to_owned(),
                count: response.len(),
                response: percentiles(response),
                service: percentiles(service),
            });
        }
    }
    Ok(())
}

fn decode(deserializer: &mut Deserializer, text: &str) -> Result<Histogram<u64>, String> {
    let bytes = STANDARD.decode(text).map_err(|e| e.to_string())?;
    let mut histogram: Histogram<u64> = deserializer
        .deserialize(&mut bytes.as_slice())
        .map_err(|e| e.to_string())?;
    // Rounds of one scenario may have grown to different ranges.
    histogram.auto(true);
    Ok(histogram)
}

fn percentiles(histogram: &Histogram<u64>) -> Vec<Percentile> {
    let count = histogram.len() as f64;
    quantiles()
        .take_while(|q| count * (1.0 - q) >= SAMPLES_ABOVE)
        .map(|quantile| Percentile {
            quantile,
            nanos: histogram.value_at_quantile(quantile),
        })
        .collect()
}

fn unreadable(run: &RunData, window: &Window, which: &'static str, reason: String) -> ReportError {
    ReportError::Histogram {
        path: run.folder.join(RECORDS_FILE),
        scenario: window.scenario.clone(),
        implementation: window.implementation.clone(),
        round: window.round,
        which,
        reason,
    }
}
