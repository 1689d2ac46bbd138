//! What changed from one run to another of the same scenarios, cell by cell.
//!
//! Two runs share no weather: an hour later the same build is a tenth slower in everything. So a cell's value is
//! taken against its round: how far others were from where they used to be, their median. These are the controls, who
//! cannot have changed themselves: published crates of the same version, built by the same compiler, and references. Where
//! they are too few it is all the others, most of whom did not change. What moved all entries of a scenario alike cannot be told
//! from weather, and stands beside as the drift of the scenario.
//!
//! Forks are the sample, and Welch's t statistic says how far a difference exceeds what tells forks apart. Two runs
//! differ by more than that, by layout and by the day, and some scenarios do so ten times as much as others. How much is
//! seen in those that a cell is taken against: what they moved apart beyond what tells their forks apart is the scenario's own
//! variance between runs, and is added. What is left after that is seen in all cells, few of which
//! changed: by the factor that brings their median square to where it belongs, standard errors are widened (*genomic
//! control*). What may be called a change is ruled as within a run then: it survives Benjamini-Hochberg over all cells,
//! its interval excludes 1, and it exceeds the placebos of both runs, half its own interval, and what the caller thinks
//! worth a word.
//!
//! Source: Welch, *The generalization of "Student's" problem* (1947); Hedges, *A random effects model for effect sizes*
//! (1983); Devlin and Roeder, *Genomic control for association studies* (1999).

use std::collections::BTreeMap;
use std::slice;

use flowmeter_harness::caps::Origin;
use flowmeter_harness::record::{Better, RunData, Scenario};
use serde::{Deserialize, Serialize};

use super::bootstrap::{Resamples, interval, median, seed_of};
use super::estimates::{Cell, Estimates, Measured, Standing, Twin};
use super::samples::{Entry, ScenarioSamples, samples, scenarios};
use super::significance::{Statistic, discoveries, fork_medians};
use super::{UNOPTIMISED, estimates_of};
use crate::error::ReportError;

/// So many others make a round's median. With fewer nothing is said about a cell.
const OTHERS: usize = 3;

/// The variance between runs of the usual scenario counts as much as if so many others had been seen to move by it: a
/// scenario has a handful of others, and by them alone one in ten would seem at rest that is not.
const USUAL: usize = 4;

/// Median of the square of a standard normal value.
const MEDIAN_SQUARE: f64 = 0.4549;

/// Two runs beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// Why nothing is called a change, if nothing may be.
    pub unjudged: Option<String>,
    /// Every cell that has a number in one of them, by group, scenario and implementation.
    pub changes: Vec<Change>,
}

/// A cell before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Which scenario.
    pub scenario: String,
    /// Who.
    pub implementation: String,
    /// Unit of the medians.
    pub unit: String,
    /// Which way is up.
    pub better: Better,
    /// Median in the first run; `null` where it has no number there.
    pub base: Option<f64>,
    /// Median in the second run; `null` where it has no number there.
    pub new: Option<f64>,
    /// New against base, less the drift; above 1 where the new one is better, whichever way is up.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's interval.
    pub ratio_lo: Option<f64>,
    /// Upper end of the ratio's interval.
    pub ratio_hi: Option<f64>,
    /// How the others of the scenario moved, likewise; `null` where they are too few, and nothing was taken off.
    pub drift: Option<f64>,
    /// What may be said about it.
    pub verdict: Verdict,
    /// Why a number is missing on one side, or nothing is said about both; `null` where neither is so, or nobody knows.
    pub why: Option<String>,
}

/// What may be said about a cell of two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Worse than before.
    Regression,
    /// Better than before.
    Improvement,
    /// Not told apart.
    Level,
    /// Nothing is said: a control, a number that is a bound, no placebo, too few others; or two runs that cannot tell.
    Unjudged,
    /// It had a number, and fails now. Of a control that is nobody's change, and unjudged.
    Lost,
    /// It failed, and has a number now.
    Gained,
    /// Only the first run has it.
    OnlyBase,
    /// Only the second run has it.
    OnlyNew,
}

impl Verdict {
    /// Whether it is what `--fail-on regression` fails on.
    pub fn is_regression(self) -> bool {
        matches!(self, Verdict::Regression | Verdict::Lost)
    }
}

impl Diff {
    /// How many cells have that verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let with = self.changes.iter().filter(|c| c.verdict == verdict);
        with.count()
    }
}

/// A cell that may have changed.
struct Hypothesis {
    change: usize,
    /// By forks alone.
    statistic: Statistic,
    /// Of each that it is taken against: the square of how far it moved, beyond the square that its forks explain.
    beyond: Vec<f64>,
    /// The smallest difference, as a logarithm, that may be called one.
    floor: f64,
}

/// A scenario in one run.
struct Side<'a> {
    samples: ScenarioSamples<'a>,
    estimates: &'a Estimates,
}

impl<'a> Side<'a> {
    fn of(run: &'a RunData, estimates: &'a Estimates, name: &str) -> Option<Side<'a>> {
        let scenario = run.scenarios.get(name)?;
        Some(Side {
            samples: samples(slice::from_ref(run), scenario),
            estimates,
        })
    }

    fn cell(&self, implementation: &str) -> Option<&'a Cell> {
        let scenario = &self.samples.scenario.name;
        self.estimates.cell(scenario, implementation)
    }

    fn measured(&self, implementation: &str) -> Option<&'a Measured> {
        self.cell(implementation)?.measured()
    }

    /// The widest noise floor of it.
    fn floor(&self) -> Option<f64> {
        let placebo = self.estimates.placebo(&self.samples.scenario.name);
        placebo.map(Twin::floor)
    }

    /// Its level: the median of its logarithms.
    fn level(&self, implementation: &str) -> f64 {
        let logs = self.samples.logs(implementation, Entry::Original);
        median(&logs.into_iter().map(|(_, log)| log).collect::<Vec<_>>())
    }

    /// How far the others were from their levels, by round: the median of them.
    fn weather(&self, others: &[(&str, f64)]) -> BTreeMap<usize, f64> {
        let mut rounds: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (name, level) in others {
            for (round, log) in self.samples.logs(name, Entry::Original) {
                rounds.entry(round).or_default().push(log - level);
            }
        }
        let off = rounds.into_iter();
        off.map(|(round, off)| (round, median(&off))).collect()
    }

    /// Logarithms by round, more is better, less the weather.
    fn logs(&self, implementation: &str, weather: &BTreeMap<usize, f64>) -> Vec<(usize, f64)> {
        let logs = self.samples.logs(implementation, Entry::Original);
        if weather.is_empty() {
            return logs;
        }
        let logs = logs.into_iter();
        logs.filter_map(|(round, log)| Some((round, log - weather.get(&round)?)))
            .collect()
    }

    /// Medians of resamples. The two sides are drawn apart, by their salt.
    fn resampled(&self, logs: &[(usize, f64)], salt: bool) -> Vec<f64> {
        let has = |round: &usize| logs.iter().any(|(present, _)| present == round);
        let forks = self.samples.forks.iter();
        let forks: Vec<Vec<usize>> = forks
            .map(|fork| fork.iter().copied().filter(has).collect())
            .filter(|fork: &Vec<usize>| !fork.is_empty())
            .collect();
        let seed = seed_of(&self.samples.scenario.name, &[salt]);
        Resamples::draw(&forks, self.samples.rounds, seed).medians(logs)
    }
}

/// What changed from the first run to the second. A change is called one if it is more than `relevant`, a share (0.05:
/// 5 %).
///
/// # Errors
/// [`ReportError::Clash`] when the two mean different things by one scenario; as [`estimates_of`] else.
pub fn diff(runs: &[RunData; 2], relevant: f64) -> Result<Diff, ReportError> {
    let [base, new] = runs;
    let estimates = [
        estimates_of(slice::from_ref(base))?,
        estimates_of(slice::from_ref(new))?,
    ];
    let unjudged = unjudged(base, new);
    let mut changes = Vec::new();
    let mut hypotheses = Vec::new();
    for scenario in scenarios(runs)? {
        let sides = [0, 1].map(|i| Side::of(&runs[i], &estimates[i], &scenario.name));
        let cells = estimates.iter().flat_map(|estimates| &estimates.cells);
        let cells = cells.filter(|cell| cell.scenario == scenario.name);
        let mut names: Vec<&str> = cells.map(|cell| &*cell.implementation).collect();
        names.sort_unstable();
        names.dedup();
        let moves = match &sides {
            [Some(base), Some(new)] => moves(runs, [base, new], &names),
            _ => BTreeMap::new(),
        };
        for &name in &names {
            let cell = |side: usize| sides[side].as_ref().and_then(|side| side.cell(name));
            let Some(mut change) = change(scenario, name, cell(0), cell(1)) else {
                continue;
            };
            if change.verdict == Verdict::Lost && is_control(runs, name) {
                change.verdict = Verdict::Unjudged;
                let what = change.why.take().unwrap_or_default();
                change.why = Some(format!(
                    "it is the same code in both runs, and fails by chance: {what}"
                ));
            }
            if let [Some(base), Some(new)] = &sides
                && base.measured(name).is_some()
                && new.measured(name).is_some()
            {
                let moved = moves.get(name);
                if let Some(moved) = moved {
                    moved.fill_in(&mut change);
                }
                let statistic = moved.and_then(|moved| moved.statistic);
                match testable(
                    unjudged.as_deref(),
                    is_control(runs, name),
                    statistic,
                    floor([base, new], name),
                ) {
                    Ok((statistic, floor)) => {
                        change.verdict = Verdict::Level;
                        hypotheses.push(Hypothesis {
                            change: changes.len(),
                            statistic,
                            beyond: moved.map_or(Vec::new(), |moved| moved.beyond(&moves)),
                            floor: floor.max(relevant.ln_1p()),
                        });
                    }
                    Err(why) => change.why = Some(why.to_owned()),
                }
            }
            changes.push(change);
        }
    }
    judge(&mut changes, &hypotheses);
    Ok(Diff { unjudged, changes })
}

/// What a cell with a number in both runs is judged by, or why it is not.
fn testable(
    unjudged: Option<&str>,
    is_control: bool,
    statistic: Option<Statistic>,
    floor: Option<f64>,
) -> Result<(Statistic, f64), &str> {
    if let Some(why) = unjudged {
        return Err(why);
    }
    if is_control {
        return Err("it is the same code in both runs, by which others are judged");
    }
    let statistic = statistic.ok_or("too few others have a number in both runs")?;
    let floor = floor.ok_or("its number is a bound, or a run has no placebo beside it")?;
    Ok((statistic, floor))
}

/// Whether an implementation is the same code in both runs.
fn is_control(runs: &[RunData; 2], name: &str) -> bool {
    let of = |run: &RunData| {
        let it = run.implementations.get(name)?;
        let foreign_code = it.reference || it.origin != Origin::Own;
        foreign_code.then(|| (it.version.clone(), run.run.machine.rustc.clone()))
    };
    let [base, new] = runs;
    of(base).is_some_and(|base| of(new) == Some(base))
}

/// Against whom an implementation is taken: the controls, or else everybody with a number in both runs. None where they
/// are too few.
fn others<'a>(
    runs: &[RunData; 2],
    sides: [&Side; 2],
    names: &[&'a str],
    name: &str,
) -> Vec<&'a str> {
    let in_both = |other: &&str| sides.iter().all(|side| side.measured(other).is_some());
    let others = names.iter().copied().filter(|other| *other != name);
    let all: Vec<&str> = others.filter(in_both).collect();
    let controls = all.iter().copied().filter(|other| is_control(runs, other));
    let controls: Vec<&str> = controls.collect();
    [controls, all]
        .into_iter()
        .find(|others| others.len() >= OTHERS)
        .unwrap_or_default()
}

/// What placebos moved by themselves, if there are any in both and the numbers are no bounds.
fn floor(sides: [&Side; 2], name: &str) -> Option<f64> {
    let of = |side: &Side| {
        let bound = side.measured(name)?.standing == Standing::AtMost;
        side.floor().filter(|_| !bound)
    };
    Some(of(sides[0])?.max(of(sides[1])?))
}

/// Why these two runs cannot tell.
fn unjudged(base: &RunData, new: &RunData) -> Option<String> {
    let facts = |run: &RunData| {
        let machine = &run.run.machine;
        [
            ("processor", machine.cpu.clone()),
            ("number of cores", machine.cores.to_string()),
            ("hypervisor", machine.hypervisor.clone()),
            ("frequency governor", machine.governor.clone()),
            ("pinning", run.run.pinning.clone()),
        ]
    };
    let facts = facts(base).into_iter().zip(facts(new));
    if let Some(((what, base), (_, new))) = facts.into_iter().find(|(a, b)| a != b) {
        return Some(format!(
            "the runs are of different machines or settings, the {what} was {base} and is {new}"
        ));
    }
    let first = |is: fn(&RunData) -> bool| {
        let run = [base, new].into_iter().find(|run| is(run))?;
        Some(run.folder.display().to_string())
    };
    let exploratory = first(|run| run.run.exploratory).map(|folder| {
        format!(
            "{folder} is exploratory: it has too few forks or rounds to tell a change from noise"
        )
    });
    let unoptimised =
        first(|run| run.run.unoptimised).map(|folder| format!("{folder} is of an {UNOPTIMISED}"));
    let why: Vec<String> = exploratory.into_iter().chain(unoptimised).collect();
    (!why.is_empty()).then(|| why.join("; "))
}

/// The medians, and what is known without statistics. `None` where neither run has a number.
fn change(
    scenario: &Scenario,
    name: &str,
    before: Option<&Cell>,
    after: Option<&Cell>,
) -> Option<Change> {
    let median = |cell: Option<&Cell>| Some(cell?.measured()?.median);
    let (base, new) = (median(before), median(after));
    let verdict = match (base, new, before, after) {
        (None, None, ..) => return None,
        (Some(_), Some(_), ..) => Verdict::Unjudged,
        (Some(_), None, _, None) => Verdict::OnlyBase,
        (Some(_), None, _, Some(_)) => Verdict::Lost,
        (None, Some(_), None, _) => Verdict::OnlyNew,
        (None, Some(_), Some(_), _) => Verdict::Gained,
    };
    let why = [before, after].into_iter().flatten().find_map(Cell::error);
    Some(Change {
        scenario: scenario.name.clone(),
        implementation: name.to_owned(),
        unit: scenario.unit.clone(),
        better: scenario.measure.better(),
        base,
        new,
        ratio: None,
        ratio_lo: None,
        ratio_hi: None,
        drift: None,
        verdict,
        why,
    })
}

/// How a cell moved from one run to the other.
struct Move<'a> {
    ratio: f64,
    interval: (f64, f64),
    /// Of the others; none where they are too few.
    drift: Option<f64>,
    /// By forks alone.
    statistic: Option<Statistic>,
    /// Those it was taken against.
    others: Vec<&'a str>,
}

/// How each cell of a scenario did that has a number in both runs.
fn moves<'a>(
    runs: &[RunData; 2],
    sides: [&Side; 2],
    names: &[&'a str],
) -> BTreeMap<&'a str, Move<'a>> {
    let both = names.iter().copied();
    let both = both.filter(|name| sides.iter().all(|side| side.measured(name).is_some()));
    both.filter_map(|name| {
        Some((
            name,
            Move::of(name, sides, others(runs, sides, names, name))?,
        ))
    })
    .collect()
}

impl<'a> Move<'a> {
    fn of(name: &str, sides: [&Side; 2], others: Vec<&'a str>) -> Option<Move<'a>> {
        let [base, new] = sides;
        let levels = others.iter().map(|name| (*name, base.level(name)));
        let levels: Vec<(&str, f64)> = levels.collect();
        let [(before, before_weather), (after, after_weather)] = sides.map(|side| {
            let weather = side.weather(&levels);
            (side.logs(name, &weather), weather)
        });
        if before.is_empty() || after.is_empty() {
            return None;
        }
        let values = |logs: &[(usize, f64)]| logs.iter().map(|&(_, log)| log).collect::<Vec<_>>();
        let draws = new.resampled(&after, true);
        let draws = draws.into_iter().zip(base.resampled(&before, false));
        let mut draws: Vec<f64> = draws.map(|(new, base)| new - base).collect();
        let (lo, hi) = interval(&mut draws);
        let level =
            |weather: BTreeMap<usize, f64>| median(&weather.into_values().collect::<Vec<_>>());
        let drift = || (level(after_weather) - level(before_weather)).exp();
        let of_forks = |side: &Side, logs: &[(usize, f64)]| fork_medians(&side.samples.forks, logs);
        let negated = of_forks(base, &before).into_iter().map(|log| -log);
        let is_alone = others.is_empty();
        Some(Move {
            ratio: (median(&values(&after)) - median(&values(&before))).exp(),
            interval: (lo.exp(), hi.exp()),
            drift: (!is_alone).then(drift),
            // The mean of one less that of the other.
            statistic: Statistic::of(&[of_forks(new, &after), negated.collect()])
                .filter(|_| !is_alone),
            others,
        })
    }

    fn fill_in(&self, change: &mut Change) {
        change.ratio = Some(self.ratio);
        (change.ratio_lo, change.ratio_hi) = (Some(self.interval.0), Some(self.interval.1));
        change.drift = self.drift;
    }

    /// See [`Hypothesis::beyond`].
    fn beyond(&self, moves: &BTreeMap<&str, Move>) -> Vec<f64> {
        let others = self.others.iter();
        let others = others.filter_map(|name| moves.get(name)?.statistic);
        others
            .map(|other| other.sum.powi(2) - other.variance)
            .collect()
    }
}

impl Hypothesis {
    /// How far the cell is from "the same", with what runs differ by in its scenario beside what its forks do. A scenario
    /// that seems more restless than the usual one is taken at its word, one that seems less is drawn towards it.
    fn between_runs(&self, usual: f64) -> Statistic {
        let others = self.beyond.len();
        let sum: f64 = self.beyond.iter().sum();
        let own = sum / others as f64;
        if own > usual {
            return self.statistic.moved_by(own, others);
        }
        let freedom = others + USUAL;
        let drawn = (sum + usual * USUAL as f64) / freedom as f64;
        self.statistic.moved_by(drawn.max(0.0), freedom)
    }
}

/// The variance between runs of the usual scenario: the median of what the others of each cell tell.
fn usual(hypotheses: &[Hypothesis]) -> f64 {
    let told = hypotheses.iter().filter(|h| !h.beyond.is_empty());
    let told = told.map(|h| h.beyond.iter().sum::<f64>() / h.beyond.len() as f64);
    let told: Vec<f64> = told.collect();
    if told.is_empty() {
        return 0.0;
    }
    median(&told).max(0.0)
}

/// How many times as wide standard errors are as that makes them, at least once.
fn wider(statistics: &[Statistic]) -> f64 {
    let squares: Vec<f64> = statistics.iter().map(|s| s.t().powi(2)).collect();
    if squares.is_empty() {
        return 1.0;
    }
    (median(&squares) / MEDIAN_SQUARE).sqrt().max(1.0)
}

fn judge(changes: &mut [Change], hypotheses: &[Hypothesis]) {
    let usual = usual(hypotheses);
    let statistics: Vec<Statistic> = hypotheses.iter().map(|h| h.between_runs(usual)).collect();
    let wider = wider(&statistics);
    let p = statistics.iter().map(|statistic| statistic.p(wider));
    let found = discoveries(&p.collect::<Vec<_>>());
    for (hypothesis, found) in hypotheses.iter().zip(found) {
        let change = &mut changes[hypothesis.change];
        let (Some(ratio), Some(lo), Some(hi)) = (change.ratio, change.ratio_lo, change.ratio_hi)
        else {
            continue;
        };
        let own = (hi.ln() - lo.ln()) / 2.0;
        if !found || ratio.ln().abs() <= hypothesis.floor.max(own) {
            continue;
        }
        if hi < 1.0 {
            change.verdict = Verdict::Regression;
        } else if lo > 1.0 {
            change.verdict = Verdict::Improvement;
        }
    }
}
