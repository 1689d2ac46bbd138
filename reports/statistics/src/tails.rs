//! Latencies of a fork together. The 99th percentile of a short window rests on few samples, and the median of many such
//! percentiles drops every stall. So the histograms of a fork's windows are added up, and percentiles are of the sum.

use std::collections::BTreeMap;

use flowmeter_records::{Measure, RunData, Window};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::best::Lead;
use super::histograms::merged;
use super::samples::{Entry, ScenarioSamples, Timed};
use crate::error::StatisticsError;

/// The percentile that is the value of a latency.
pub const TAIL: f64 = 0.99;

/// Fewer samples say nothing about one in a thousand.
const SAMPLES: u64 = 10_000;

/// What an entry recorded.
#[derive(Debug)]
pub struct Pooled {
    /// For each fork its first round, and the sum of its histograms.
    forks: Vec<(usize, Histogram<u64>)>,
    /// The sum of all.
    all: Histogram<u64>,
}

/// A percentile over all complete rounds, with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// Share of samples at or below, 0 to 1; 1 is the longest.
    pub quantile: f64,
    /// Nanoseconds.
    pub nanos: f64,
    /// Lower end of the t interval over forks, widened to hold the percentile of all.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

impl Pooled {
    fn of(forks: Vec<(usize, Histogram<u64>)>) -> Option<Pooled> {
        let mut rest = forks.iter();
        let mut all = rest.next()?.1.clone();
        for (_, fork) in rest {
            all.add(fork).ok()?;
        }
        Some(Pooled { forks, all })
    }

    /// All complete rounds together.
    pub fn all(&self) -> &Histogram<u64> {
        &self.all
    }

    /// A percentile of each fork, by its first round.
    pub fn by_fork(&self, quantile: f64) -> Vec<(usize, f64)> {
        let forks = self.forks.iter();
        forks
            .map(|(round, fork)| (*round, value(fork, quantile)))
            .collect()
    }

    /// A percentile of all forks together.
    pub fn of_all(&self, quantile: f64) -> f64 {
        value(&self.all, quantile)
    }

    /// The median, the tail and the longest, as far as there are samples enough.
    pub fn tails(&self) -> Vec<Tail> {
        let count = self.all.len();
        let told = [0.5, TAIL, 0.999, 1.0].into_iter();
        let told = told.filter(|quantile| *quantile != 0.999 || count >= SAMPLES);
        told.map(|quantile| {
            let nanos = self.of_all(quantile);
            let forks = self.by_fork(quantile).into_iter();
            let logs: Vec<f64> = forks.map(|(_, nanos)| nanos.ln()).collect();
            let (lo, hi) = Lead::of(&logs, &logs).map_or((nanos, nanos), Lead::interval);
            Tail {
                quantile,
                nanos,
                lo: lo.min(nanos),
                hi: hi.max(nanos),
            }
        })
        .collect()
    }
}

/// A percentile that has a logarithm.
fn value(histogram: &Histogram<u64>, quantile: f64) -> f64 {
    histogram.value_at_quantile(quantile).max(1) as f64
}

/// The histogram of which a window's value is a percentile.
fn of(window: &Window) -> Option<&str> {
    let latency = window.latency.as_ref().map(|it| &*it.response);
    latency.or_else(|| Some(&*window.findings.lateness.as_ref()?.called))
}

/// Pools the histograms of a latency scenario. Nothing is pooled unless every window has one: then all values would not
/// be of one kind.
///
/// # Errors
/// [`StatisticsError::Histogram`] for one that cannot be read.
pub fn pool(runs: &[RunData], samples: &mut ScenarioSamples) -> Result<(), StatisticsError> {
    let mut windows = samples.windows.values().flat_map(BTreeMap::values);
    if samples.scenario.measure != Measure::Latency || !windows.all(|it| of(it.window).is_some()) {
        return Ok(());
    }
    let mut all = BTreeMap::new();
    for (&key, windows) in &samples.windows {
        let mut of_forks = Vec::new();
        for fork in &samples.forks {
            let its = fork.iter().filter_map(|round| windows.get(round).copied());
            let its: Vec<Timed> = its.collect();
            if let Some(sum) = merged(runs, its.into_iter(), "response", of)?
                && let Some(&first) = fork.first()
            {
                of_forks.push((first, sum));
            }
        }
        all.extend(Pooled::of(of_forks).map(|pooled| (key, pooled)));
    }
    samples.pooled = all;
    Ok(())
}

/// What an implementation itself recorded.
pub fn pooled<'s>(samples: &'s ScenarioSamples<'s>, name: &'s str) -> Option<&'s Pooled> {
    samples.pooled.get(&(name, Entry::Original))
}
