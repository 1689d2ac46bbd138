//! Histograms of windows, merged, and their percentiles.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flowmeter_records::{RECORDS_FILE, RunData, Window};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde::{Deserialize, Serialize};

use super::samples::Timed;
use crate::error::StatisticsError;

/// Samples that must lie above a percentile for it to be shown.
const SAMPLES_ABOVE: f64 = 10.0;

/// One percentile with at least ten samples above it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// Share of samples at or below, 0 to 1.
    pub quantile: f64,
    /// Nanoseconds.
    pub nanos: u64,
}

/// Percentiles along the axis 1/(1-p): a few in each decade.
fn quantiles() -> impl Iterator<Item = f64> {
    const STEPS: [f64; 6] = [1.0, 1.4, 2.0, 3.0, 4.0, 6.5];
    (0..7).flat_map(|decade| {
        STEPS
            .iter()
            .map(move |step| 1.0 - 1.0 / (step * 10_f64.powi(decade)))
    })
}

/// The percentiles of a histogram with enough samples above them.
pub fn percentiles(histogram: &Histogram<u64>) -> Vec<Percentile> {
    let count = histogram.len() as f64;
    quantiles()
        .take_while(|q| count * (1.0 - q) >= SAMPLES_ABOVE)
        .map(|quantile| Percentile {
            quantile,
            nanos: histogram.value_at_quantile(quantile),
        })
        .collect()
}

/// The sum of one histogram of each window, `None` where no window has it. `which` names it in errors.
///
/// # Errors
/// [`StatisticsError::Histogram`] for one that cannot be read.
pub fn merged<'a>(
    runs: &[RunData],
    windows: impl Iterator<Item = Timed<'a>>,
    which: &'static str,
    of: impl Fn(&Window) -> Option<&str>,
) -> Result<Option<Histogram<u64>>, StatisticsError> {
    let mut deserializer = Deserializer::new();
    let mut merged: Option<Histogram<u64>> = None;
    for Timed { run, window } in windows {
        let Some(text) = of(window) else {
            continue;
        };
        let refuse = |reason: String| unreadable(&runs[run], window, which, reason);
        let histogram = decode(&mut deserializer, text).map_err(&refuse)?;
        match &mut merged {
            Some(sum) => sum.add(&histogram).map_err(|e| refuse(e.to_string()))?,
            None => merged = Some(histogram),
        }
    }
    Ok(merged)
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

fn unreadable(
    run: &RunData,
    window: &Window,
    which: &'static str,
    reason: String,
) -> StatisticsError {
    StatisticsError::Histogram {
        path: run.folder.join(RECORDS_FILE),
        scenario: window.scenario.clone(),
        implementation: window.implementation.clone(),
        round: window.round,
        which,
        reason,
    }
}
