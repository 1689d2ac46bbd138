//! From records to estimates: medians, intervals, ratios, what may be called faster, rankings.
//!
//! Only complete rounds count, so that machine-wide drift affects every entry of a scenario alike. Ratios are computed
//! within a round, in logarithms. A ratio above 1 is always better, whether more or less of the scenario's value is
//! better. The rule "no proof, no number" is applied here: a cell with a failure has no number. A cell without any
//! proof is never the best, and is in no ranking.

mod best;
pub mod checked;
mod compare;
mod cost;
mod diff;
mod error;
mod estimates;
mod excess;
mod flight;
mod forks;
mod health;
mod histograms;
mod latency;
mod lateness;
mod layouts;
mod modes;
pub mod number;
mod pace;
mod paired;
mod quantity;
mod ranking;
mod samples;
mod significance;
#[cfg(test)]
mod simulated;
mod tails;

use flowmeter_records::{RunData, Scenario};

pub use diff::{Change, Diff, Verdict, diff};
pub use error::StatisticsError;
pub use estimates::{
    Allocated, Cell, Cost, ESTIMATES_FILE, ESTIMATES_SCHEMA, Estimates, METHOD, Measured, Outcome,
    Rank, Ranking, SlowedTwin, Source, Standing, Twin, View, failure_word,
};
pub use excess::{FullestPeriod, Promise};
pub use flight::Flight;
pub use forks::CONFIDENCE;
pub use health::Health;
pub use histograms::Percentile;
pub use latency::LatencyCurves;
pub use lateness::LatenessCurves;
pub use layouts::{Moved, moved};
pub use modes::Mode;
pub use paired::{Call, Pair, Paired, Stop, paired};
pub use quantity::Quantity;
pub use samples::{Entry, HELD_OUT, origin, samples, scenarios};
pub use tails::Tail;

use crate::checked::Proofs;

/// The smallest difference that is called one, as a share: of rankings, and by default of `ab`. Another placement of the
/// same code moves a cell by some percent, which no number of forks averages out.
pub const RELEVANT: f64 = 0.05;

/// The remark about a build that the records call unoptimised.
pub const UNOPTIMISED: &str = "unoptimised build: these are no figures";

/// Computes the estimates of one run, or of several taken together (each run's forks count as further
/// forks of the same cell).
///
/// # Errors
/// [`StatisticsError::NoRuns`] for no runs, [`StatisticsError::Clash`] when runs mean different things by one
/// scenario, [`StatisticsError::Histogram`] for a histogram that cannot be read.
pub fn estimate(runs: &[RunData]) -> Result<Estimates, StatisticsError> {
    if runs.is_empty() {
        return Err(StatisticsError::NoRuns);
    }
    let unoptimised = runs.iter().any(|run| run.run.unoptimised);
    let exploratory = unoptimised || runs.iter().any(|run| run.run.exploratory);
    let proofs = Proofs::of(runs);
    let mut comparisons = Vec::new();
    let mut latencies = Vec::new();
    let (mut lateness, mut flights, mut periods) = (Vec::new(), Vec::new(), Vec::new());
    let scenarios = scenarios(runs)?;
    let of_cpu: Vec<Scenario> = scenarios.iter().map(|it| quantity::of_cpu(it)).collect();
    let mut costs = Vec::new();
    for (scenario, of_cpu) in scenarios.into_iter().zip(&of_cpu) {
        let mut samples = samples(runs, scenario);
        tails::pool(runs, &mut samples)?;
        latency::curves(runs, &samples, &mut latencies)?;
        lateness::curves(runs, &samples, &mut lateness)?;
        flight::flights(runs, &samples, &mut flights);
        excess::fullest(runs, &samples, &mut periods);
        comparisons.push(compare::compare(runs, &proofs, &samples, !exploratory));
        let samples = quantity::samples_of_cpu(&samples, of_cpu);
        costs.push(compare::compare(runs, &proofs, &samples, !exploratory));
    }
    let rankings = ranking::rankings(&comparisons, &costs, &proofs, exploratory);
    let mut estimates = Estimates {
        schema: ESTIMATES_SCHEMA,
        method: METHOD,
        confidence: CONFIDENCE,
        exploratory,
        unoptimised,
        sources: runs.iter().map(Source::of).collect(),
        cells: Vec::new(),
        placebos: Vec::new(),
        slowed: Vec::new(),
        rankings,
        latencies,
        lateness,
        flights,
        periods,
        allocations: Vec::new(),
        uncontended: Vec::new(),
    };
    for comparison in comparisons {
        estimates.cells.extend(comparison.cells);
        estimates.placebos.extend(comparison.placebos);
        estimates.slowed.extend(comparison.slowed);
    }
    estimates.allocations = cost::allocations(runs, &estimates.cells);
    estimates.uncontended = cost::uncontended(runs, &estimates.cells);
    Ok(estimates)
}

/// The estimates of these runs. For a single run the stored ones are used, if they were computed from its records in
/// their present state; otherwise they are computed now.
///
/// # Errors
/// As [`estimate`]. A stale or foreign file of estimates is ignored.
pub fn estimates_of(runs: &[RunData]) -> Result<Estimates, StatisticsError> {
    if let [run] = runs
        && let Ok(kept) = Estimates::read(&run.folder)
        && kept.are_of(runs)
    {
        return Ok(kept);
    }
    estimate(runs)
}
