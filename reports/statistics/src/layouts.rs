//! How far the layout of the program that times moves each cell.
//!
//! Layouts differ in the order in which the linker placed functions, and in nothing else. Each fork ran in one. What
//! forks of one layout differ by is chance; what layouts differ by beyond that is their own.

use std::collections::BTreeMap;
use std::slice;

use flowmeter_records::RunData;
use serde::{Deserialize, Serialize};

use super::forks::median;
use super::samples::{Entry, samples, scenarios};
use super::tails::pool;
use crate::error::StatisticsError;

/// One cell in several layouts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// The scenario.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// Layouts in which it was timed.
    pub layouts: usize,
    /// By what share the best layout is ahead of the worst, each by the median of its forks.
    pub between: f64,
    /// By what share the best fork of a layout is ahead of its worst: the median of all layouts with several forks. `null`
    /// without such a layout.
    pub within: Option<f64>,
}

/// Each cell of a run in several layouts, the one moved furthest first. Empty where there was one layout.
///
/// # Errors
/// [`StatisticsError::Clash`], as for other statistics.
pub fn moved(run: &RunData) -> Result<Vec<Moved>, StatisticsError> {
    let layouts = run.run.layouts;
    if layouts < 2 {
        return Ok(Vec::new());
    }
    let runs = slice::from_ref(run);
    let mut all = Vec::new();
    for scenario in scenarios(runs)? {
        let mut samples = samples(runs, scenario);
        pool(runs, &mut samples)?;
        for (name, windows) in samples.with_number() {
            let mut by_fork: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for (round, log) in samples.logs(name, Entry::Original) {
                by_fork
                    .entry(windows[&round].window.fork)
                    .or_default()
                    .push(log);
            }
            let mut by_layout: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for (fork, logs) in by_fork {
                by_layout
                    .entry(fork % layouts)
                    .or_default()
                    .push(median(&logs));
            }
            let middles: Vec<f64> = by_layout.values().map(|forks| median(forks)).collect();
            let repeated = by_layout.values().filter(|forks| forks.len() > 1);
            let spreads: Vec<f64> = repeated.map(|forks| spread(forks)).collect();
            all.push(Moved {
                scenario: scenario.name.clone(),
                implementation: name.to_owned(),
                layouts: middles.len(),
                between: spread(&middles),
                within: (!spreads.is_empty()).then(|| median(&spreads)),
            });
        }
    }
    all.sort_by(|a, b| b.between.total_cmp(&a.between));
    Ok(all)
}

/// By what share the largest is ahead of the smallest, of logarithms.
fn spread(logs: &[f64]) -> f64 {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
    (most - least).exp_m1()
}
