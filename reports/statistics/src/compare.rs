//! The entries of one scenario against its best, its placebo and its slowed copies.

use std::collections::BTreeMap;

use flowmeter_records::{Better, FailureKind, RunData, Scenario};

use super::best::{Contest, Distance, Lead, Place};
use super::cost;
use super::estimates::{Cell, Measured, Outcome, SlowedTwin, Standing, Twin};
use super::forks::{CONFIDENCE, differences, fork_medians};
use super::quantity::Quantity;
use super::samples::{Entry, ScenarioSamples, implementation, origin};
use crate::checked::Proofs;

/// A scenario's cells, with what rankings are made of.
pub struct Comparison<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// By implementation.
    pub cells: Vec<Cell>,
    /// Of this scenario.
    pub placebos: Vec<Twin>,
    /// Of this scenario.
    pub slowed: Vec<SlowedTwin>,
    /// Logarithms of the values of implementations with a number, by round; more is better.
    pub logs: BTreeMap<&'a str, Vec<(usize, f64)>>,
    /// The rounds of each fork.
    pub forks: Vec<Vec<usize>>,
}

impl Comparison<'_> {
    /// One value a fork of how far one is ahead of another: the median of the log ratios within rounds.
    pub fn by_fork(&self, ahead: &str, behind: &str) -> Vec<f64> {
        let rounds = differences(&self.logs[ahead], &self.logs[behind]);
        fork_medians(&self.forks, &rounds)
    }

    /// How far one implementation is ahead of another; `None` if they never met in a round.
    fn lead(&self, ahead: &str, behind: &str) -> Option<Lead> {
        lead(
            &self.forks,
            &differences(&self.logs[ahead], &self.logs[behind]),
        )
    }
}

/// From differences by round.
fn lead(forks: &[Vec<usize>], rounds: &[(usize, f64)]) -> Option<Lead> {
    Lead::of(&fork_medians(forks, rounds), &only_values(rounds))
}

fn only_values(values: &[(usize, f64)]) -> Vec<f64> {
    values.iter().map(|&(_, value)| value).collect()
}

/// Estimates everything about one scenario. A run that does not conclude calls nothing best or slower.
pub fn compare<'a>(
    runs: &'a [RunData],
    proofs: &Proofs,
    samples: &ScenarioSamples<'a>,
    concludes: bool,
) -> Comparison<'a> {
    let scenario = samples.scenario;
    let logs: BTreeMap<&'a str, Vec<(usize, f64)>> = samples
        .windows
        .keys()
        .filter(|(name, entry)| *entry == Entry::Original && samples.has_number(name))
        .map(|&(name, entry)| (name, logs(samples, name, entry)))
        .collect();
    let mut comparison = Comparison {
        scenario,
        cells: Vec::new(),
        placebos: Vec::new(),
        slowed: Vec::new(),
        logs,
        forks: samples.forks.clone(),
    };
    let names: Vec<&'a str> = comparison.logs.keys().copied().collect();
    // The best is a proved implementation; an unproved one if none is proved, and a reference if there are only
    // references. It is no bound, unless there are only bounds.
    let is_reference = |name: &str| implementation(runs, name).is_some_and(|it| it.reference);
    let is_bound = |name: &str| samples.pace(name).generator_limited;
    let entered = samples.windows.keys().map(|(name, _)| *name);
    let entered = entered.chain(samples.failures.keys().copied());
    let unproved: BTreeMap<&str, String> = entered
        .filter_map(|name| {
            let checked = proofs.checked(name, Some(&scenario.form));
            (!checked.is_proved()).then(|| (name, checked.sentence()))
        })
        .collect();
    let class = |name: &str| (is_reference(name), unproved.contains_key(name));
    let leading = names.iter().map(|name| class(name)).min();
    let competes = |name: &str| match leading {
        Some((true, _)) => true,
        leading => leading == Some(class(name)),
    };
    let mut rivals: Vec<&'a str> = names.iter().copied().filter(|n| competes(n)).collect();
    if rivals.iter().any(|name| !is_bound(name)) {
        rivals.retain(|name| !is_bound(name));
    }
    let contest = Contest::new(rivals.len(), concludes, |i, j| {
        comparison.lead(rivals[i], rivals[j])
    });
    let places = contest.places(concludes);
    let cell = |name: &str, outcome| Cell {
        scenario: scenario.name.clone(),
        group: scenario.group.clone(),
        implementation: name.to_owned(),
        origin: origin(runs, name),
        reference: is_reference(name),
        unproved: unproved.get(name).cloned().filter(|_| !is_reference(name)),
        unit: scenario.unit.clone(),
        better: scenario.measure.better(),
        outcome,
    };
    let mut cells = Vec::new();
    for &name in &names {
        let values = samples.values(name, Entry::Original);
        let place = rivals.iter().position(|rival| *rival == name);
        let distance = match place {
            Some(place) => contest.distance(place),
            None => contest.beside(|rival| comparison.lead(name, rivals[rival])),
        };
        let Some(distance) = distance else {
            // Ratios are computed within rounds, and these two were timed in different runs only.
            let best = contest.leader().map_or("", |leader| rivals[leader]);
            let outcome = Outcome::Failed {
                kind: FailureKind::Void,
                message: format!("no round together with {best}, the best, so there is no ratio"),
                rounds: values.len(),
            };
            cells.push(cell(name, outcome));
            continue;
        };
        // A bound may be ahead of the best, and counts as level then.
        let distance = match competes(name) && !is_reference(name) {
            true => distance.at_most_level(),
            false => distance,
        };
        let standing = match place {
            _ if is_reference(name) => Standing::Reference,
            _ if is_bound(name) => Standing::AtMost,
            _ if unproved.contains_key(name) => Standing::Unproved,
            Some(place) => places[place].into(),
            None => Standing::Undecided,
        };
        let is_aside = matches!(
            standing,
            Standing::AtMost | Standing::Reference | Standing::Unproved
        );
        let median = samples.number(name, Entry::Original);
        let (lo, hi) = level(&samples.forks, &samples.compared(name, Entry::Original));
        let standing = match Quantity::of(scenario) {
            Quantity::Ceiling if concludes && !is_aside => Quantity::reached(lo, hi),
            Quantity::OwnLoad if !is_aside => Standing::OwnLoad,
            _ => standing,
        };
        let outcome = Outcome::Measured(Measured {
            rounds: values.len(),
            disturbed: samples.pace(name).disturbed,
            median,
            modes: samples.modes(name),
            lo: lo.min(median),
            hi: hi.max(median),
            ratio: distance.ratio,
            ratio_lo: distance.lo,
            ratio_hi: distance.hi,
            p: place
                .filter(|_| !is_aside)
                .map_or(1.0, |place| contest.p(place)),
            standing,
            cost: Box::new(cost::of(samples, name)),
        });
        cells.push(cell(name, outcome));
    }
    for (&name, (kind, message)) in &samples.failures {
        let outcome = Outcome::Failed {
            kind: *kind,
            message: message.clone(),
            rounds: samples.values(name, Entry::Original).len(),
        };
        cells.push(cell(name, outcome));
    }
    for &(name, entry) in samples.windows.keys() {
        let pace = samples.pace(name);
        if entry == Entry::Original && !samples.failures.contains_key(name) && !pace.sustained() {
            let outcome = Outcome::Unsustained {
                disturbed: pace.disturbed,
                windows: pace.windows,
                rate: scenario.axes.rate,
            };
            cells.push(cell(name, outcome));
        }
    }
    cells.sort_by(|a, b| a.implementation.cmp(&b.implementation));
    crown(&mut cells);
    comparison.cells = cells;
    copies(samples, &mut comparison);
    comparison
}

/// Logarithms of what an entry's ratios are made of, signed so that more is better.
fn logs(samples: &ScenarioSamples, name: &str, entry: Entry) -> Vec<(usize, f64)> {
    let quantity = Quantity::of(samples.scenario);
    samples.logs_of(name, entry, |value| quantity.compared(value))
}

/// The t interval of the level of forks; the level itself of a single round.
fn level(forks: &[Vec<usize>], values: &[(usize, f64)]) -> (f64, f64) {
    let logs: Vec<(usize, f64)> = values.iter().map(|&(round, v)| (round, v.ln())).collect();
    lead(forks, &logs).map_or((f64::INFINITY, f64::NEG_INFINITY), Lead::interval)
}

/// Compares placebos and slowed copies with the implementation itself. The base build is other code, and belongs to no
/// ranking.
fn copies(samples: &ScenarioSamples, comparison: &mut Comparison) {
    for &(name, entry) in samples.windows.keys() {
        let is_copy = matches!(entry, Entry::Placebo | Entry::Slowed(_));
        let Some(original) = comparison.logs.get(name).filter(|_| is_copy) else {
            continue;
        };
        let rounds = differences(&logs(samples, name, entry), original);
        let Some(lead) = lead(&samples.forks, &rounds) else {
            continue;
        };
        let (lo, hi) = lead.interval();
        let twin = Twin {
            scenario: samples.scenario.name.clone(),
            implementation: name.to_owned(),
            rounds: rounds.len(),
            ratio: lead.log.exp(),
            lo,
            hi,
            // Of logarithms, since a wild placebo spans orders of magnitude.
            half_width: 1.0 - (lo / hi).sqrt(),
            tested: lead.is_tested(),
        };
        match entry {
            Entry::Slowed(percent) => comparison.slowed.push(SlowedTwin {
                percent,
                p: lead.p(),
                called_slower: lead.p() < 1.0 - CONFIDENCE && hi < 1.0,
                twin,
            }),
            _ => comparison.placebos.push(twin),
        }
    }
}

/// Calls the best one first where another cell shows a better number, and leaves it undecided beside a bound: the true
/// value may lie anywhere below.
fn crown(cells: &mut [Cell]) {
    let standing = |cell: &Cell| cell.measured().map(|m| m.standing);
    let is_best = |cell: &Cell| standing(cell) == Some(Standing::Best);
    let Some(best) = cells.iter().position(is_best) else {
        return;
    };
    let Some(median) = cells[best].measured().map(|m| m.median) else {
        return;
    };
    let beats = |other: f64| match cells[best].better {
        Better::Higher => other > median,
        Better::Lower => other < median,
    };
    let has_bound = cells
        .iter()
        .any(|cell| cell.competes() && standing(cell) == Some(Standing::AtMost));
    let mut numbers = cells.iter().filter_map(Cell::measured);
    let is_beaten = numbers.any(|m| beats(m.median));
    if let Outcome::Measured(measured) = &mut cells[best].outcome {
        measured.standing = match () {
            () if has_bound => Standing::Undecided,
            () if is_beaten => Standing::First,
            () => Standing::Best,
        };
    }
}

impl Distance {
    /// The same, at most 1.
    fn at_most_level(self) -> Distance {
        Distance {
            ratio: self.ratio.min(1.0),
            lo: self.lo.min(1.0),
            hi: self.hi.min(1.0),
        }
    }
}

impl From<Place> for Standing {
    fn from(place: Place) -> Standing {
        match place {
            Place::Best => Standing::Best,
            Place::Slower => Standing::Slower,
            Place::Level => Standing::Level,
            Place::Undecided => Standing::Undecided,
        }
    }
}
