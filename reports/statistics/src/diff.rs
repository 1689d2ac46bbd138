//! What changed from one run to another of the same scenarios, cell by cell.
//!
//! All judgements rest on *controls*: code that is the same in both runs. Controls are published crates of the same
//! version built by the same compiler, implementations in other languages, and references. No judged cell contributes
//! to the estimate of noise. So a change of all our cells is detected like a change of one.
//!
//! Machine-wide drift makes the same build a tenth slower an hour later. So a cell's value is taken relative to its
//! round: to the median deviation of the scenario's controls from their usual values. That median is the drift of the
//! scenario and is shown beside the ratio. A scenario with fewer than three controls has no drift estimate, and its
//! cells are not judged.
//!
//! Forks are the sample, and Welch's t statistic compares a difference with the variation between forks. Two runs
//! differ by more than that, by memory layout and by the day, and in some scenarios ten times as much as in others.
//! Each control is therefore taken against the other controls of its scenario (*leave one out*), and used twice. First,
//! what the controls of a scenario moved beyond the variation between their forks is the scenario's variance between
//! runs, and is added. Second, what all controls still move by widens every standard error. The factor brings the
//! median of their squares to its expected value (*genomic control*). With fewer than ten such controls in all
//! scenarios together that factor is unknown, and nothing is judged.
//!
//! A change is called if it survives Benjamini-Hochberg over all judged cells, its interval excludes 1, and it exceeds
//! the caller's threshold.
//!
//! Source: Welch, *The generalization of "Student's" problem* (1947); Hedges, *A random effects model for effect sizes*
//! (1983); Devlin and Roeder, *Genomic control for association studies* (1999).

use std::collections::BTreeMap;
use std::slice;

use flowmeter_harness::caps::Origin;
use flowmeter_records::{Better, RunData, Scenario};
use serde::{Deserialize, Serialize};

use super::estimates::{Cell, Estimates, Measured, Standing};
use super::forks::{CONFIDENCE, Statistic, fork_medians, median};
use super::quantity::OWN_LOADS;
use super::samples::{Entry, ScenarioSamples, samples, scenarios};
use super::significance::discoveries;
use super::tails::pool;
use super::{UNOPTIMISED, estimates_of};
use crate::error::StatisticsError;

/// The fewest controls that make a round's median. With fewer the cells of a scenario are not judged.
const CONTROLS: usize = 3;

/// The fewest controls, each taken against the others of its scenario, that determine how much too narrow the standard
/// errors are.
const LEFT_OUT: usize = 10;

/// The weight of the usual scenario's variance between runs, as a number of controls. A scenario has a handful of
/// controls; by those alone one in ten scenarios would seem stable that is not.
const USUAL: usize = 4;

/// Median of the square of a standard normal value.
const MEDIAN_SQUARE: f64 = 0.4549;

/// A comparison of two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff {
    /// Why nothing is called a change, if nothing may be.
    pub unjudged: Option<String>,
    /// Whether the two may be compared at all: they are of one machine and its settings, and neither exploratory nor
    /// unoptimised.
    pub is_comparable: bool,
    /// Every cell that has a number in one of them, by group, scenario and implementation.
    pub changes: Vec<Change>,
}

/// A cell before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Which scenario.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// Unit of the medians.
    pub unit: String,
    /// Whether more or less is better.
    pub better: Better,
    /// Median in the first run; `null` where it has no number there.
    pub base: Option<f64>,
    /// Median in the second run; `null` where it has no number there.
    pub new: Option<f64>,
    /// New against base, less the drift; above 1 if the new one is better, whether more or less is better.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's interval.
    pub ratio_lo: Option<f64>,
    /// Upper end of the ratio's interval.
    pub ratio_hi: Option<f64>,
    /// How the controls of the scenario moved, likewise; `null` if they are too few, and no drift was subtracted.
    pub drift: Option<f64>,
    /// The verdict about it.
    pub verdict: Verdict,
    /// Why a number is missing on one side, or the cell is not judged; `null` if neither is so, or no reason is
    /// recorded.
    pub why: Option<String>,
}

/// The verdict about a cell of two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Worse than before.
    Regression,
    /// Better than before.
    Improvement,
    /// Not told apart.
    Level,
    /// Not judged: a control, a number that is a bound, too few controls; or two runs that cannot be
    /// compared.
    Unjudged,
    /// It had a number, and fails now. A control that fails is unjudged instead, since its code has not changed.
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

/// How far a cell moved, and how much its scenario varies between runs.
struct Step {
    /// From forks only.
    statistic: Statistic,
    /// For each control that it is taken against: the square of its movement, less the square that its forks explain.
    beyond: Vec<f64>,
}

/// A cell that may have changed.
struct Hypothesis {
    change: usize,
    step: Step,
}

/// A scenario in one run.
struct Side<'a> {
    samples: ScenarioSamples<'a>,
    estimates: &'a Estimates,
}

impl<'a> Side<'a> {
    /// `None` if the run has no such scenario.
    fn of(
        run: &'a RunData,
        estimates: &'a Estimates,
        name: &str,
    ) -> Result<Option<Side<'a>>, StatisticsError> {
        let Some(scenario) = run.scenarios.get(name) else {
            return Ok(None);
        };
        let mut samples = samples(slice::from_ref(run), scenario);
        pool(slice::from_ref(run), &mut samples)?;
        Ok(Some(Side { samples, estimates }))
    }

    fn cell(&self, implementation: &str) -> Option<&'a Cell> {
        let scenario = &self.samples.scenario.name;
        self.estimates.cell(scenario, implementation)
    }

    fn measured(&self, implementation: &str) -> Option<&'a Measured> {
        self.cell(implementation)?.measured()
    }

    /// Its level: the median of its logarithms.
    fn level(&self, implementation: &str) -> f64 {
        let logs = self.samples.logs(implementation, Entry::Original);
        median(&logs.into_iter().map(|(_, log)| log).collect::<Vec<_>>())
    }

    /// The drift by round: the median deviation of the controls from their levels.
    fn weather(&self, controls: &[(&str, f64)]) -> BTreeMap<usize, f64> {
        let mut rounds: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (name, level) in controls {
            for (round, log) in self.samples.logs(name, Entry::Original) {
                rounds.entry(round).or_default().push(log - level);
            }
        }
        let off = rounds.into_iter();
        off.map(|(round, off)| (round, median(&off))).collect()
    }

    /// Logarithms by round, more is better, less the drift.
    fn logs(&self, implementation: &str, weather: &BTreeMap<usize, f64>) -> Vec<(usize, f64)> {
        let logs = self.samples.logs(implementation, Entry::Original);
        if weather.is_empty() {
            return logs;
        }
        let logs = logs.into_iter();
        logs.filter_map(|(round, log)| Some((round, log - weather.get(&round)?)))
            .collect()
    }
}

/// What changed from the first run to the second. A change has to exceed `relevant`, a share (0.05: 5 %).
///
/// # Errors
/// [`StatisticsError::Clash`] when the two mean different things by one scenario; as [`estimates_of`] else.
pub fn diff(runs: &[RunData; 2], relevant: f64) -> Result<Diff, StatisticsError> {
    let [base, new] = runs;
    let estimates = [
        estimates_of(slice::from_ref(base))?,
        estimates_of(slice::from_ref(new))?,
    ];
    let mut unjudged = unjudged(base, new);
    let mut changes = Vec::new();
    let (mut hypotheses, mut controls) = (Vec::new(), Vec::new());
    for scenario in scenarios(runs)? {
        let side = |i: usize| Side::of(&runs[i], &estimates[i], &scenario.name);
        let sides = [side(0)?, side(1)?];
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
                let step = moved.and_then(|moved| moved.step(&moves));
                if is_control(runs, name) {
                    controls.extend(step);
                    change.why = Some(SAME_CODE.to_owned());
                } else {
                    match testable(step, [base, new], name) {
                        Ok(step) => hypotheses.push(Hypothesis {
                            change: changes.len(),
                            step,
                        }),
                        Err(why) => change.why = Some(why.to_owned()),
                    }
                }
            }
            changes.push(change);
        }
    }
    let is_comparable = unjudged.is_none();
    if is_comparable && controls.len() < LEFT_OUT {
        unjudged = Some(too_few(controls.len()));
    }
    match &unjudged {
        None => judge(&mut changes, &hypotheses, &controls, relevant.ln_1p()),
        Some(why) => {
            for change in &mut changes {
                if change.base.is_some() && change.new.is_some() {
                    change.why = Some(why.clone());
                }
            }
        }
    }
    Ok(Diff {
        unjudged,
        is_comparable,
        changes,
    })
}

/// Why a control is not judged.
const SAME_CODE: &str = "it is the same code in both runs, by which others are judged";

/// Why nothing is judged with so few controls.
fn too_few(controls: usize) -> String {
    let cells = match controls {
        0 => "no cell".to_owned(),
        1 => "1 cell".to_owned(),
        n => format!("{n} cells"),
    };
    format!(
        "{cells} of code that is the same in both runs could be taken against two more of its scenario, and it takes \
         {LEFT_OUT} to tell a change from how runs differ by themselves; such code is published crates of one version built \
         by one compiler, implementations in other languages, and references"
    )
}

/// What a cell with a number in both runs is judged by, or why it is not.
fn testable(step: Option<Step>, sides: [&Side; 2], name: &str) -> Result<Step, &'static str> {
    let standings = sides.map(|side| side.measured(name).map(|m| m.standing));
    if standings.contains(&Some(Standing::AtMost)) {
        return Err("its number is a bound");
    }
    if standings.contains(&Some(Standing::OwnLoad)) {
        return Err(OWN_LOADS);
    }
    step.ok_or("fewer than three others there are the same code in both runs")
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

/// The controls that a cell is taken against; none if they are too few. A control is taken against the others, which
/// are one less.
fn against<'a>(controls: &[&'a str], name: &str) -> Vec<&'a str> {
    if controls.len() < CONTROLS {
        return Vec::new();
    }
    let others = controls.iter().copied().filter(|other| *other != name);
    others.collect()
}

/// Whether a run has fewer forks or rounds than the comparison of two runs was tried with.
fn is_short(run: &RunData) -> bool {
    let (forks, rounds) = (run.run.forks, run.run.rounds);
    forks < 5 || forks.saturating_mul(rounds) < 10
}

/// Why these two runs cannot be compared.
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
    let exploratory = first(|run| run.run.exploratory || is_short(run)).map(|folder| {
        format!(
            "{folder} is exploratory: it has too few forks or rounds to tell a change from noise"
        )
    });
    let unoptimised =
        first(|run| run.run.unoptimised).map(|folder| format!("{folder} is of an {UNOPTIMISED}"));
    let why: Vec<String> = exploratory.into_iter().chain(unoptimised).collect();
    (!why.is_empty()).then(|| why.join("; "))
}

/// The medians, and what is known without statistics. `None` if neither run has a number.
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
    /// The drift of the controls; `None` if they are too few.
    drift: Option<f64>,
    /// From forks only.
    statistic: Option<Statistic>,
    /// The controls that it was taken against.
    controls: Vec<&'a str>,
}

/// The movement of each cell of a scenario that has a number in both runs.
fn moves<'a>(
    runs: &[RunData; 2],
    sides: [&Side; 2],
    names: &[&'a str],
) -> BTreeMap<&'a str, Move<'a>> {
    let in_both = |name: &&str| sides.iter().all(|side| side.measured(name).is_some());
    let both: Vec<&str> = names.iter().copied().filter(in_both).collect();
    let controls = both.iter().copied().filter(|name| is_control(runs, name));
    let controls: Vec<&str> = controls.collect();
    let moves = both.into_iter().filter_map(|name| {
        let moved = Move::of(name, sides, against(&controls, name))?;
        Some((name, moved))
    });
    moves.collect()
}

impl<'a> Move<'a> {
    fn of(name: &str, sides: [&Side; 2], controls: Vec<&'a str>) -> Option<Move<'a>> {
        let [base, new] = sides;
        let levels = controls.iter().map(|name| (*name, base.level(name)));
        let levels: Vec<(&str, f64)> = levels.collect();
        let [(before, before_weather), (after, after_weather)] = sides.map(|side| {
            let weather = side.weather(&levels);
            (side.logs(name, &weather), weather)
        });
        if before.is_empty() || after.is_empty() {
            return None;
        }
        let level =
            |weather: BTreeMap<usize, f64>| median(&weather.into_values().collect::<Vec<_>>());
        let drift = || (level(after_weather) - level(before_weather)).exp();
        let of_forks = |side: &Side, logs: &[(usize, f64)]| fork_medians(&side.samples.forks, logs);
        let (after, before) = (of_forks(new, &after), of_forks(base, &before));
        let mean = |forks: &[f64]| forks.iter().sum::<f64>() / forks.len() as f64;
        let log = mean(&after) - mean(&before);
        let negated = before.into_iter().map(|log| -log);
        let is_alone = controls.is_empty();
        // The mean of one less that of the other.
        let statistic = Statistic::of(&[after, negated.collect()]);
        let (lo, hi) = statistic.map_or((log, log), |it| it.interval(CONFIDENCE));
        Some(Move {
            ratio: log.exp(),
            interval: (lo.exp(), hi.exp()),
            drift: (!is_alone).then(drift),
            statistic: statistic.filter(|_| !is_alone),
            controls,
        })
    }

    fn fill_in(&self, change: &mut Change) {
        change.ratio = Some(self.ratio);
        (change.ratio_lo, change.ratio_hi) = (Some(self.interval.0), Some(self.interval.1));
        change.drift = self.drift;
    }

    /// `None` if there were too few controls.
    fn step(&self, moves: &BTreeMap<&str, Move>) -> Option<Step> {
        let controls = self.controls.iter();
        let controls = controls.filter_map(|name| moves.get(name)?.statistic);
        Some(Step {
            statistic: self.statistic?,
            beyond: controls
                .map(|control| control.sum.powi(2) - control.variance)
                .collect(),
        })
    }
}

impl Step {
    /// How far the cell is from "the same", with the variance between runs of its scenario added to that between forks.
    /// A scenario that seems less stable than the usual one is taken as it seems; one that seems more stable is drawn
    /// towards the usual one. The controls were taken against each other, which costs a degree of freedom.
    fn between_runs(&self, usual: f64) -> Statistic {
        let controls = self.beyond.len();
        let sum: f64 = self.beyond.iter().sum();
        let own = sum / controls as f64;
        let freedom = controls.saturating_sub(1).max(1);
        if own > usual {
            return self.statistic.moved_by(own, freedom);
        }
        let drawn = (sum + usual * USUAL as f64) / (controls + USUAL) as f64;
        self.statistic.moved_by(drawn.max(0.0), freedom + USUAL)
    }
}

/// The variance between runs of the usual scenario: the median over the controls of each cell.
fn usual(hypotheses: &[Hypothesis]) -> f64 {
    let told = hypotheses.iter().map(|h| &h.step.beyond);
    let told = told.filter(|beyond| !beyond.is_empty());
    let told = told.map(|beyond| beyond.iter().sum::<f64>() / beyond.len() as f64);
    let told: Vec<f64> = told.collect();
    if told.is_empty() {
        return 0.0;
    }
    median(&told).max(0.0)
}

/// The factor by which the controls show standard errors to be too narrow, at least 1.
fn wider(controls: &[Step], usual: f64) -> f64 {
    let squares = controls.iter().map(|c| c.between_runs(usual).t().powi(2));
    let squares: Vec<f64> = squares.collect();
    (median(&squares) / MEDIAN_SQUARE).sqrt().max(1.0)
}

/// Calls what survives the correction, exceeds `relevant` (a logarithm), and has an interval that excludes 1.
fn judge(changes: &mut [Change], hypotheses: &[Hypothesis], controls: &[Step], relevant: f64) {
    let usual = usual(hypotheses);
    let wider = wider(controls, usual);
    let steps = hypotheses.iter().map(|hypothesis| &hypothesis.step);
    let p = steps.map(|step| step.between_runs(usual).p(wider));
    let found = discoveries(&p.collect::<Vec<_>>());
    for (hypothesis, found) in hypotheses.iter().zip(found) {
        let change = &mut changes[hypothesis.change];
        let Some(ratio) = change.ratio else {
            continue;
        };
        change.verdict = match () {
            () if !found || ratio.ln().abs() <= relevant => Verdict::Level,
            () if change.ratio_hi.is_some_and(|hi| hi < 1.0) => Verdict::Regression,
            () if change.ratio_lo.is_some_and(|lo| lo > 1.0) => Verdict::Improvement,
            () => Verdict::Level,
        };
    }
}
