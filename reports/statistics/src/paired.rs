//! Two builds of each implementation, timed side by side in one run.
//!
//! The windows of a pair follow each other, so drift of the machine cancels in their ratio. A fork counts once, with the
//! median of its rounds' log ratios: all its rounds share one placement on the cores and one layout of memory. Each cell
//! has a t interval over its forks. A change is called if the t test rejects "no change" after Holm's correction over
//! all cells, and the change is at least the threshold. "No difference beyond the threshold" is a result too. Two
//! one-sided t tests at 5 % have to exclude both a gain and a loss of the threshold. All else is undecided.
//!
//! A run may look several times at its cells, and give more forks only to those that are not clear
//! ([`Run::looks`](flowmeter_records::Run::looks)). Then each look has an equal part of every error rate, so that all
//! looks together keep it. Intervals hold the true change with 95 % at whichever look a cell has ended. [`Stop`] says
//! when. A change near the threshold is not clear before the last look, so looking again gives it no further chance to
//! be called.
//!
//! The answer holds for one layout of each build. The linker places the code of two commits differently, which can move
//! an uncontended cell by some percent, and more forks do not average that out. The threshold is there for this reason.
//!
//! Source: Schuirmann, *A comparison of the two one-sided tests procedure* (1987); Jennison and Turnbull, *Group
//! Sequential Methods* (2000).

use std::collections::BTreeSet;
use std::slice;

use flowmeter_records::{Better, Build, Failure, GivenUp, RunData, Scenario};
use serde::{Deserialize, Serialize};

use super::forks::{CONFIDENCE, Statistic, differences, fork_medians};
use super::quantity::{OWN_LOADS, Quantity};
use super::samples::{Entry, ScenarioSamples, samples, scenarios};
use super::significance::holm;
use super::tails::pool;
use crate::error::StatisticsError;

/// Accepted probability that a run has any false call, and that a call of no difference is false.
const ERROR: f64 = 0.05;

/// Where an interval has to end to be clear of the threshold, as a share of it.
const CLEAR: f64 = 0.75;

const BASE: Entry = Entry::Of(Build::Base);

/// All pairs of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    /// The smallest change that is called one, a share.
    pub threshold: f64,
    /// The promises that the base build gives up.
    pub without: Vec<GivenUp>,
    /// Each cell that was entered for two builds, by scenario and implementation.
    pub pairs: Vec<Pair>,
    /// How many scenarios were dropped for lack of time. They have no pairs.
    pub dropped: usize,
}

/// One cell in two builds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The scenario.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// Unit of the medians.
    pub unit: String,
    /// Whether more or less is better.
    pub better: Better,
    /// Median of the base build; `null` without a number.
    pub base: Option<f64>,
    /// Median of the build of the run; `null` without a number.
    pub new: Option<f64>,
    /// New against base: above 1 if the new one is better, whether more or less is better.
    pub ratio: Option<f64>,
    /// Lower end of its 95 % interval.
    pub ratio_lo: Option<f64>,
    /// Upper end of its 95 % interval.
    pub ratio_hi: Option<f64>,
    /// The p-value of no change, corrected for the number of cells.
    pub p: Option<f64>,
    /// Forks in which both were timed.
    pub forks: usize,
    /// What is concluded.
    pub verdict: Call,
    /// Why a number is missing or not judged; `null` otherwise.
    pub why: Option<String>,
}

/// The conclusion about a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// The base has a number, and the new build has none.
    Lost,
    /// The new build is slower.
    Slower,
    /// The new build is faster.
    Faster,
    /// Neither shown to differ nor shown to be alike.
    Undecided,
    /// No difference beyond the threshold.
    Level,
    /// The new build has a number, and the base has none.
    Gained,
    /// Neither has a number.
    NoNumber,
}

impl Call {
    /// Whether it is what `--fail-on regression` fails on.
    pub fn is_regression(self) -> bool {
        matches!(self, Call::Slower | Call::Lost)
    }
}

/// When more forks of a pair are not worth their time.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// The smallest change that is called one, a share.
    pub threshold: f64,
    /// Forks before a pair may be called alike. A mode that one fork in ten has is missed by fewer.
    pub level: usize,
    /// Forks at the last look.
    pub last: usize,
}

impl Stop {
    /// Whether a pair is measured no further: its interval is clear of the threshold, or would be too wide at the last
    /// look for a change of twice the threshold, or its number is a bound.
    pub fn ends(&self, pair: &Pair) -> bool {
        let Some((lo, hi)) = pair.ratio_lo.zip(pair.ratio_hi) else {
            return pair.verdict == Call::Undecided && pair.forks > 1;
        };
        let (lo, hi) = (lo.ln(), hi.ln());
        let bound = -(1.0 - self.threshold).ln();
        let half_at_last = (hi - lo) / 2.0 * (pair.forks as f64 / self.last as f64).sqrt();
        match pair.verdict {
            Call::Slower if hi < -CLEAR * bound => true,
            Call::Faster if lo > CLEAR * bound => true,
            Call::Level => pair.forks >= self.level,
            _ => half_at_last > 2.0 * bound,
        }
    }
}

impl Paired {
    /// How many pairs have that verdict.
    pub fn count(&self, call: Call) -> usize {
        self.pairs.iter().filter(|p| p.verdict == call).count()
    }

    /// Whether any pair has been judged.
    pub fn is_judged(&self) -> bool {
        self.pairs.iter().any(|pair| pair.p.is_some())
    }
}

/// The pairs of a run that was measured against a base build.
///
/// # Errors
/// [`StatisticsError::Clash`], as for other statistics.
pub fn paired(run: &RunData, threshold: f64) -> Result<Paired, StatisticsError> {
    let runs = slice::from_ref(run);
    let (mut pairs, mut statistics) = (Vec::new(), Vec::new());
    for scenario in scenarios(runs)? {
        let mut samples = samples(runs, scenario);
        pool(runs, &mut samples)?;
        let failures = || run.failures.iter().filter(|f| f.scenario == scenario.name);
        let timed = samples.windows.keys().filter(|(_, entry)| *entry == BASE);
        let failed = failures().filter(|f| f.build.is_some());
        let failed = failed.map(|f| f.implementation.as_str());
        let names: BTreeSet<&str> = timed.map(|(name, _)| *name).chain(failed).collect();
        for name in names {
            let failures: Vec<&Failure> = failures().filter(|f| f.implementation == name).collect();
            let (pair, statistic) = pair(scenario, &samples, &failures, name);
            pairs.push(pair);
            statistics.push(statistic);
        }
    }
    conclude(&mut pairs, &statistics, run.run.looks, threshold);
    Ok(Paired {
        threshold,
        without: run.run.without.clone(),
        pairs,
        dropped: run.end.as_ref().map_or(0, |end| end.dropped.len()),
    })
}

/// A pair before its verdict, with the statistic that decides it. The statistic is missing if nothing is judged.
fn pair(
    scenario: &Scenario,
    samples: &ScenarioSamples<'_>,
    failures: &[&Failure],
    name: &str,
) -> (Pair, Option<Statistic>) {
    let new = new_entry(samples, name);
    let why_not = |entry: Entry| no_number(samples, failures, name, entry);
    let (new_fails, base_fails) = (why_not(new), why_not(BASE));
    let of =
        |entry: Entry, fails: &Option<String>| fails.is_none().then(|| samples.number(name, entry));
    let differences = differences(&samples.logs(name, new), &samples.logs(name, BASE));
    let mut pair = Pair {
        scenario: scenario.name.clone(),
        implementation: name.to_owned(),
        unit: scenario.unit.clone(),
        better: scenario.measure.better(),
        base: of(BASE, &base_fails),
        new: of(new, &new_fails),
        ratio: None,
        ratio_lo: None,
        ratio_hi: None,
        p: None,
        forks: 0,
        verdict: match (&new_fails, &base_fails) {
            (None, None) => Call::Undecided,
            (Some(_), None) => Call::Lost,
            (None, Some(_)) => Call::Gained,
            (Some(_), Some(_)) => Call::NoNumber,
        },
        why: None,
    };
    pair.why = new_fails.or_else(|| base_fails.map(|why| format!("base build: {why}")));
    if pair.verdict != Call::Undecided {
        return (pair, None);
    }
    let forks = fork_medians(&samples.forks, &differences);
    pair.forks = forks.len();
    let is_bound = [new, BASE].map(|entry| samples.pace_of(name, entry).generator_limited);
    if is_bound.contains(&true) {
        pair.why = Some("a number is a bound: the generator was late".to_owned());
        return (pair, None);
    }
    if Quantity::of(samples.scenario) == Quantity::OwnLoad {
        pair.why = Some(OWN_LOADS.to_owned());
        return (pair, None);
    }
    let statistic = Statistic::of(&[forks]);
    if statistic.is_none() {
        pair.why = Some("one fork alone shows no variation".to_owned());
    }
    (pair, statistic)
}

/// The entry of the run's own build: a copy slowed on purpose where only that was entered.
fn new_entry(samples: &ScenarioSamples<'_>, name: &str) -> Entry {
    let mut entries = samples.windows.keys().filter(|(of, _)| *of == name);
    let slowed = entries.find_map(|&(_, entry)| matches!(entry, Entry::Slowed(_)).then_some(entry));
    match slowed {
        Some(slowed) if !samples.windows.contains_key(&(name, Entry::Original)) => slowed,
        _ => Entry::Original,
    }
}

/// Why an entry has no number.
fn no_number(
    samples: &ScenarioSamples<'_>,
    failures: &[&Failure],
    name: &str,
    entry: Entry,
) -> Option<String> {
    let is_its = |failure: &&&Failure| match entry {
        BASE => failure.build.is_some(),
        Entry::Slowed(percent) => failure.slowed_percent == Some(percent),
        _ => failure.build.is_none() && failure.slowed_percent.is_none(),
    };
    if let Some(failure) = failures.iter().find(is_its) {
        return Some(failure.message.clone());
    }
    let pace = samples.pace_of(name, entry);
    match pace.windows {
        0 => Some("it has no complete round".to_owned()),
        _ if !pace.sustained() => Some("it cannot sustain the rate".to_owned()),
        _ => None,
    }
}

/// Fills in what the statistics show after that many looks. All cells that are judged are one family.
fn conclude(pairs: &mut [Pair], statistics: &[Option<Statistic>], looks: u32, threshold: f64) {
    let looks = f64::from(looks);
    let judged = statistics.iter().flatten();
    let judged = judged.map(|statistic| (looks * statistic.p(1.0)).min(1.0));
    let corrected = holm(&judged.collect::<Vec<_>>());
    let judged = pairs.iter_mut().zip(statistics);
    let judged = judged.filter_map(|(pair, statistic)| Some((pair, (*statistic)?)));
    for ((pair, statistic), p) in judged.zip(corrected) {
        let (lo, hi) = statistic.interval(1.0 - (1.0 - CONFIDENCE) / looks);
        pair.ratio = Some(statistic.sum.exp());
        (pair.ratio_lo, pair.ratio_hi) = (Some(lo.exp()), Some(hi.exp()));
        pair.p = Some(p);
        pair.verdict = call(statistic, p, looks, threshold);
    }
}

fn call(statistic: Statistic, p: f64, looks: f64, threshold: f64) -> Call {
    // In logarithms, as far down as up: a loss of 5 % is undone by a gain of 5.3 %.
    let bound = -(1.0 - threshold).ln();
    // Two one-sided tests at 5 % reject exactly where the 90 % interval is inside.
    let (lo, hi) = statistic.interval(1.0 - 2.0 * ERROR / looks);
    match statistic.sum {
        _ if -bound < lo && hi < bound => Call::Level,
        change if p <= ERROR && change <= -bound => Call::Slower,
        change if p <= ERROR && change >= bound => Call::Faster,
        _ => Call::Undecided,
    }
}

#[cfg(test)]
mod tests;
