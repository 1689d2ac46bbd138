//! The entries of one scenario against its best, its placebo and its slowed copies.

use std::collections::BTreeMap;

use flowmeter_records::{Better, FailureKind, RunData, Scenario};

use super::bootstrap::{Resamples, interval, median, seed_of};
use super::cost;
use super::estimates::{Cell, Measured, Outcome, SlowedTwin, Standing, Twin};
use super::samples::{Entry, ScenarioSamples, implementation, origin};
use super::significance::{discoveries, fork_medians, p_value};
use crate::checked::Proofs;

/// A scenario's cells, with the draws that rankings are made of.
pub struct Comparison<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// By implementation.
    pub cells: Vec<Cell>,
    /// The proved implementation that no other proved one beats; `None` if nothing was proved of any.
    leader: Option<String>,
    /// Of this scenario.
    pub placebos: Vec<Twin>,
    /// Of this scenario.
    pub slowed: Vec<SlowedTwin>,
    /// Log-ratio to the best of each resample, by implementation, without references. In single precision, since they
    /// are only averaged.
    pub draws: BTreeMap<String, Vec<f32>>,
    /// Logarithms of the values of implementations with a number, by round; more is better.
    pub logs: BTreeMap<String, Vec<(usize, f64)>>,
    /// The rounds of each fork.
    pub forks: Vec<Vec<usize>>,
}

/// Resamples by the set of rounds that can be drawn. Usually that is all rounds, and one set serves every entry.
struct Draws<'a> {
    samples: &'a ScenarioSamples<'a>,
    made: BTreeMap<Vec<bool>, Resamples>,
}

impl Draws<'_> {
    fn medians(&mut self, values: &[(usize, f64)]) -> Vec<f64> {
        let mut present = vec![false; self.samples.rounds];
        for &(round, _) in values {
            present[round] = true;
        }
        let samples = self.samples;
        let resamples = self.made.entry(present).or_insert_with_key(|present| {
            let forks: Vec<Vec<usize>> = samples
                .forks
                .iter()
                .map(|fork| fork.iter().copied().filter(|&r| present[r]).collect())
                .filter(|fork: &Vec<usize>| !fork.is_empty())
                .collect();
            let salt: &[bool] = if present.iter().all(|&p| p) {
                &[]
            } else {
                present
            };
            let seed = seed_of(&samples.scenario.name, salt);
            Resamples::draw(&forks, samples.rounds, seed)
        });
        resamples.medians(values)
    }
}

fn only_values(values: &[(usize, f64)]) -> Vec<f64> {
    values.iter().map(|&(_, value)| value).collect()
}

/// Per-round differences of logarithms, where both have a value.
pub fn differences(a: &[(usize, f64)], b: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let b: BTreeMap<usize, f64> = b.iter().copied().collect();
    a.iter()
        .filter_map(|&(round, x)| b.get(&round).map(|y| (round, x - y)))
        .collect()
}

/// The entry that no other beats by the median of per-round ratios. The search starts from the best median. Such
/// medians need not be transitive, so the search of a cycle ends where it began.
fn best(logs: &BTreeMap<&str, Vec<(usize, f64)>>) -> Option<String> {
    let by_median = |name: &&str| median(&only_values(&logs[*name]));
    let mut best = logs
        .keys()
        .copied()
        .max_by(|a, b| by_median(a).total_cmp(&by_median(b)))?;
    for _ in logs {
        let lead = |name: &str| median(&only_values(&differences(&logs[name], &logs[best])));
        let Some((ahead, _)) = logs
            .keys()
            .map(|&name| (name, lead(name)))
            .filter(|&(_, lead)| lead > 0.0)
            .max_by(|a, b| a.1.total_cmp(&b.1))
        else {
            break;
        };
        best = ahead;
    }
    Some(best.to_owned())
}

/// Turns log-ratios to one entry, in every resample, into log-ratios to the best of that resample. Which entry is the
/// best is uncertain too. So the best of all has an interval of its own, and no interval reaches above 1. Entries that
/// may not lead may still be ahead. They count as level then, unless they are aside: references, and unproved ones
/// beside proved ones.
fn to_the_best_of_each(
    draws: BTreeMap<String, Vec<f64>>,
    leads: impl Fn(&str) -> bool,
    is_aside: impl Fn(&str) -> bool,
) -> BTreeMap<String, Vec<f32>> {
    let mut most = vec![f64::NEG_INFINITY; super::RESAMPLES];
    for (_, draws) in draws.iter().filter(|(name, _)| leads(name)) {
        for (most, &draw) in most.iter_mut().zip(draws) {
            *most = most.max(draw);
        }
    }
    let relative = |draws: Vec<f64>, limit: f64| {
        let pairs = draws.into_iter().zip(&most);
        pairs
            .map(|(draw, most)| (draw - most).min(limit) as f32)
            .collect()
    };
    draws
        .into_iter()
        .map(|(name, draws)| {
            let limit = if is_aside(&name) { f64::INFINITY } else { 0.0 };
            let draws = relative(draws, limit);
            (name, draws)
        })
        .collect()
}

/// Estimates everything about one scenario except what depends on all others.
pub fn compare<'a>(
    runs: &[RunData],
    proofs: &Proofs,
    samples: &ScenarioSamples<'a>,
) -> Comparison<'a> {
    let scenario = samples.scenario;
    let mut draws = Draws {
        samples,
        made: BTreeMap::new(),
    };
    let logs: BTreeMap<&str, Vec<(usize, f64)>> = samples
        .windows
        .keys()
        .filter(|(name, entry)| *entry == Entry::Original && samples.has_number(name))
        .map(|&(name, entry)| (name, samples.logs(name, entry)))
        .collect();
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
    let leading = logs.keys().map(|name| class(name)).min();
    let competes = |name: &str| match leading {
        Some((true, _)) => true,
        leading => leading == Some(class(name)),
    };
    let is_aside = |name: &str| is_reference(name) || !competes(name);
    let only_bounds = logs
        .keys()
        .filter(|name| competes(name))
        .all(|name| is_bound(name));
    let leads = |name: &str| competes(name) && (only_bounds || !is_bound(name));
    let best = best(
        &logs
            .iter()
            .filter(|(name, _)| leads(name))
            .map(|(&name, values)| (name, values.clone()))
            .collect(),
    );
    let mut comparison = Comparison {
        scenario,
        cells: Vec::new(),
        leader: best.clone().filter(|_| leading == Some((false, false))),
        placebos: Vec::new(),
        slowed: Vec::new(),
        draws: BTreeMap::new(),
        logs: BTreeMap::new(),
        forks: samples.forks.clone(),
    };
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
    let against_best: BTreeMap<&str, Vec<(usize, f64)>> = logs
        .iter()
        .filter_map(|(&name, values)| Some((name, differences(values, &logs[best.as_deref()?]))))
        .collect();
    comparison.draws = to_the_best_of_each(
        against_best
            .iter()
            .filter(|(_, differences)| !differences.is_empty())
            .map(|(&name, differences)| (name.to_owned(), draws.medians(differences)))
            .collect(),
        leads,
        is_aside,
    );
    for (&name, against_best) in &against_best {
        let best = best.as_deref().expect("one of these is the best");
        let values = samples.values(name, Entry::Original);
        if against_best.is_empty() {
            // Ratios are computed within rounds, and these two were timed in different runs only.
            let outcome = Outcome::Failed {
                kind: FailureKind::Void,
                message: format!("no round together with {best}, the best, so there is no ratio"),
                rounds: values.len(),
            };
            comparison.cells.push(cell(name, outcome));
            continue;
        }
        let (lo, hi) = interval(&mut draws.medians(&values));
        let ratio = median(&only_values(against_best)).exp();
        // Above 1 only if medians of ratios form a cycle, level with the best; or aside.
        let ratio = if is_aside(name) {
            ratio
        } else {
            ratio.min(1.0)
        };
        let of_resamples = comparison.draws[name].iter().map(|&x| f64::from(x));
        let (ratio_lo, ratio_hi) = interval(&mut of_resamples.collect::<Vec<_>>());
        let standing = match name {
            _ if is_reference(name) => Standing::Reference,
            _ if is_bound(name) => Standing::AtMost,
            _ if unproved.contains_key(name) => Standing::Unproved,
            _ => Standing::Level,
        };
        let outcome = Outcome::Measured(Measured {
            rounds: values.len(),
            disturbed: samples.pace(name).disturbed,
            median: median(&only_values(&values)),
            lo,
            hi,
            ratio,
            // The best of a resample is often better than the best of all. This draws the interval down, and it has to
            // hold the ratio nevertheless.
            ratio_lo: ratio_lo.exp().min(ratio),
            ratio_hi: ratio_hi.exp().max(ratio),
            p: if standing != Standing::Level || name == best {
                1.0
            } else {
                p_value(&[fork_medians(&samples.forks, against_best)])
            },
            overlaps: false,
            standing,
            cost: cost::of(samples, name),
        });
        comparison.cells.push(cell(name, outcome));
    }
    // Rankings are made of these.
    comparison.draws.retain(|name, _| !is_reference(name));
    for (&name, (kind, message)) in &samples.failures {
        let outcome = Outcome::Failed {
            kind: *kind,
            message: message.clone(),
            rounds: samples.values(name, Entry::Original).len(),
        };
        comparison.cells.push(cell(name, outcome));
    }
    for &(name, entry) in samples.windows.keys() {
        let pace = samples.pace(name);
        if entry == Entry::Original && !samples.failures.contains_key(name) && !pace.sustained() {
            let outcome = Outcome::Unsustained {
                disturbed: pace.disturbed,
                windows: pace.windows,
                rate: scenario.axes.rate,
            };
            comparison.cells.push(cell(name, outcome));
        }
    }
    comparison
        .cells
        .sort_by(|a, b| a.implementation.cmp(&b.implementation));
    comparison.mark_overlaps();
    for &(name, entry) in samples.windows.keys() {
        // A copy of the same code beside it. The base build is other code, and belongs to no ranking.
        let is_copy = matches!(entry, Entry::Placebo | Entry::Slowed(_));
        let Some(original) = logs.get(name).filter(|_| is_copy) else {
            continue;
        };
        let against = differences(&samples.logs(name, entry), original);
        if against.is_empty() {
            continue;
        }
        let mut log_ratios = draws.medians(&against);
        let p = p_value(&[fork_medians(&samples.forks, &against)]);
        let (lo, hi) = interval(&mut log_ratios);
        let (lo, hi) = (lo.exp(), hi.exp());
        let twin = Twin {
            scenario: scenario.name.clone(),
            implementation: name.to_owned(),
            rounds: against.len(),
            ratio: median(&only_values(&against)).exp(),
            lo,
            hi,
            // Of logarithms, since a wild placebo spans orders of magnitude.
            half_width: 1.0 - (lo / hi).sqrt(),
        };
        match entry {
            Entry::Slowed(percent) => comparison.slowed.push(SlowedTwin {
                percent,
                twin,
                p,
                called_slower: false,
            }),
            _ => comparison.placebos.push(twin),
        }
    }
    comparison.logs = logs
        .into_iter()
        .map(|(name, values)| (name.to_owned(), values))
        .collect();
    comparison
}

impl Comparison<'_> {
    /// Whether a cell may be ranked, and has a number that is no bound.
    fn is_rival(cell: &Cell) -> bool {
        let exact = |m: &Measured| m.standing != Standing::AtMost;
        cell.competes() && cell.measured().is_some_and(exact)
    }

    /// Marks the cells with intervals that reach the top, if several do.
    fn mark_overlaps(&mut self) {
        let rivals = self.cells.iter_mut().filter(|cell| Self::is_rival(cell));
        let mut top: Vec<&mut Measured> = rivals
            .filter_map(|cell| match &mut cell.outcome {
                Outcome::Measured(measured) => Some(measured),
                _ => None,
            })
            .filter(|measured| measured.ratio_hi >= 1.0)
            .collect();
        let several = top.len() > 1;
        for measured in &mut top {
            measured.overlaps = several;
        }
    }

    /// Calls the leading cell the best where all others are told apart from it and none shows a better number.
    fn crown(&mut self) {
        let Some(leader) = self.leader.clone() else {
            return;
        };
        let is_leader = |cell: &Cell| cell.implementation == leader;
        let others = || self.cells.iter().filter(|cell| !is_leader(cell));
        let standing = |cell: &Cell| cell.measured().map(|m| m.standing);
        let apart = |cell: &Cell| matches!(standing(cell), None | Some(Standing::Slower));
        if !others().filter(|cell| cell.competes()).all(apart) {
            return;
        }
        let Some(number) = self.cells.iter().find(|cell| is_leader(cell)) else {
            return;
        };
        let Some(median) = number.measured().map(|m| m.median) else {
            return;
        };
        let beats = |other: f64| match number.better {
            Better::Higher => other > median,
            Better::Lower => other < median,
        };
        let mut numbers = others().filter_map(|cell| cell.measured());
        let first = match numbers.any(|m| beats(m.median)) {
            true => Standing::First,
            false => Standing::Best,
        };
        let cells = self.cells.iter_mut();
        for cell in cells.filter(|cell| cell.implementation == leader) {
            if let Outcome::Measured(measured) = &mut cell.outcome
                && measured.standing == Standing::Level
            {
                measured.standing = first;
            }
        }
    }
}

/// Says which cells are slower than the leading one of their scenario, which leading ones are the best, and which
/// slowed copies were noticed. Each family of hypotheses is corrected for its size. Says nothing in an exploratory run.
/// In a scenario without a placebo the noise is unknown, and nothing is slower.
///
/// The placebo of one implementation does not measure the noise of every implementation. So an effect must also exceed
/// half the width of its own interval.
pub fn judge(comparisons: &mut [Comparison], exploratory: bool) {
    if exploratory {
        return;
    }
    let floors: Vec<Option<f64>> = comparisons
        .iter()
        .map(|c| c.placebos.iter().map(Twin::floor).reduce(f64::max))
        .collect();
    let mut hypotheses: Vec<(Option<f64>, &mut Measured)> = Vec::new();
    let mut copies: Vec<(Option<f64>, &mut SlowedTwin)> = Vec::new();
    for (comparison, floor) in comparisons.iter_mut().zip(floors) {
        let leader = comparison.leader.clone();
        for cell in &mut comparison.cells {
            if let Outcome::Measured(measured) = &mut cell.outcome
                && measured.standing == Standing::Level
                && leader.as_ref() != Some(&cell.implementation)
            {
                hypotheses.push((floor, measured));
            }
        }
        copies.extend(comparison.slowed.iter_mut().map(|copy| (floor, copy)));
    }
    let exceeds = |ratio: f64, (lo, hi): (f64, f64), floor: Option<f64>| {
        let own = (hi.ln() - lo.ln()) / 2.0;
        floor.is_some_and(|placebos| -ratio.ln() > placebos.max(own))
    };
    let found = discoveries(&hypotheses.iter().map(|(_, m)| m.p).collect::<Vec<_>>());
    for ((floor, measured), found) in hypotheses.into_iter().zip(found) {
        let interval = (measured.ratio_lo, measured.ratio_hi);
        if found && measured.ratio_hi < 1.0 && exceeds(measured.ratio, interval, floor) {
            measured.standing = Standing::Slower;
        }
    }
    let found = discoveries(&copies.iter().map(|(_, c)| c.p).collect::<Vec<_>>());
    for ((floor, copy), found) in copies.into_iter().zip(found) {
        let Twin { ratio, lo, hi, .. } = copy.twin;
        copy.called_slower = found && hi < 1.0 && exceeds(ratio, (lo, hi), floor);
    }
    for comparison in comparisons {
        comparison.crown();
    }
}
