//! Implementations in order: the geometric mean of their ratios to the best of each cell, in tiers.

use std::collections::{BTreeMap, BTreeSet};

use flowmeter_harness::caps::Origin;

use super::best::{Contest, Lead, Place};
use super::compare::Comparison;
use super::estimates::{LEAST_CELLS, Measured, Rank, Ranking, Standing, View};
use super::forks::Statistic;
use super::quantity::Quantity;
use crate::checked::{Checked, Proofs};

/// The cells of an implementation in one view.
struct Entrant<'a> {
    name: &'a str,
    origin: Origin,
    /// Why it has no place in the order: nothing was proved of it.
    unproved: Option<&'a str>,
    cells: Vec<&'a Measured>,
}

impl Entrant<'_> {
    /// The mean of the logarithms of its ratios.
    fn mean(&self) -> f64 {
        self.cells.iter().map(|cell| cell.ratio.ln()).sum::<f64>() / self.cells.len() as f64
    }

    /// The interval of that mean. Deviations of cells are independent and add up in quadrature (MOVER: Zou and Donner
    /// 2008). A cell that may be the best is an exception: its ratio to the leader of the same data is too low on
    /// average, in all such cells alike, so their distances from 1 are added.
    fn interval(&self) -> (f64, f64) {
        let n = self.cells.len() as f64;
        let (mut down, mut up, mut bias) = (0.0, 0.0, 0.0);
        for cell in &self.cells {
            down += (cell.ratio / cell.ratio_lo).ln().powi(2);
            let above = (cell.ratio_hi / cell.ratio).ln();
            match cell.ratio_hi < 1.0 {
                true => up += above * above,
                false => bias += above,
            }
        }
        let mean = self.mean();
        (mean - down.sqrt() / n, mean + (bias + up.sqrt()) / n)
    }

    fn bounds(&self) -> usize {
        let bounds = self.cells.iter().filter(|cell| is_bound(cell));
        bounds.count()
    }
}

fn is_bound(cell: &Measured) -> bool {
    cell.standing == Standing::AtMost
}

/// The rankings of every group, one for each quantity: over all cells; of speed also over the shared ones, and over those
/// of each form, where these differ. `costs` are the same scenarios with CPU time for values.
///
/// An exploratory run has one tier, since it calls nothing faster; so has a view of few cells. References are in no
/// ranking. Unproved implementations come last, in no order.
pub fn rankings<'a, 'b>(
    comparisons: &'a [Comparison<'b>],
    costs: &'a [Comparison<'b>],
    proofs: &Proofs,
    exploratory: bool,
) -> Vec<Ranking> {
    let mut groups: Vec<&str> = comparisons.iter().map(|c| &*c.scenario.group).collect();
    groups.dedup();
    let mut rankings = Vec::new();
    for group in groups {
        for quantity in Quantity::ALL {
            let measured = match quantity {
                Quantity::CpuTime => costs,
                _ => comparisons,
            };
            let of_quantity = |all: &'a [Comparison<'b>]| {
                let all = all.iter();
                let all = all.filter(|c| c.scenario.group == group && has_numbers(c));
                all.filter(|c| Quantity::of(c.scenario) == quantity)
                    .collect()
            };
            let mut all: Vec<&Comparison> = of_quantity(measured);
            if all.len() < LEAST_CELLS {
                // Of a few cells with CPU time beside their values the tables of costs have the numbers.
                all = of_quantity(comparisons);
            }
            for (view, cells) in views(quantity, all) {
                rankings.push(rank((group, quantity), view, &cells, proofs, exploratory));
            }
        }
    }
    rankings
}

/// The views of these cells, none of which is empty.
fn views<'a, 'b>(
    quantity: Quantity,
    all: Vec<&'a Comparison<'b>>,
) -> Vec<(View, Vec<&'a Comparison<'b>>)> {
    let mut views = Vec::new();
    if quantity == Quantity::Speed {
        let everyone: BTreeSet<&str> = all.iter().flat_map(|c| proved(c)).collect();
        let shared: Vec<&Comparison> = all
            .iter()
            .copied()
            .filter(|c| !everyone.is_empty() && proved(c).count() == everyone.len())
            .collect();
        if !shared.is_empty() && shared.len() < all.len() {
            views.push((View::Shared, shared));
        }
        let forms: BTreeSet<&str> = all.iter().map(|c| &*c.scenario.form).collect();
        for form in forms.iter().filter(|_| forms.len() > 1) {
            let of_form = all.iter().copied().filter(|c| c.scenario.form == *form);
            views.push((View::Form((*form).to_owned()), of_form.collect()));
        }
    }
    if !all.is_empty() {
        views.insert(0, (View::All, all));
    }
    views
}

/// Whether any implementation but a reference has a number there.
fn has_numbers(comparison: &Comparison) -> bool {
    let mut cells = comparison.cells.iter();
    cells.any(|cell| !cell.reference && cell.measured().is_some())
}

/// The implementations that have a number in a scenario and may be ranked.
fn proved<'a>(comparison: &'a Comparison) -> impl Iterator<Item = &'a str> {
    let cells = comparison.cells.iter();
    let cells = cells.filter(|cell| cell.competes() && cell.measured().is_some());
    cells.map(|cell| &*cell.implementation)
}

/// What was checked of each implementation that took part in these scenarios.
fn checked(comparisons: &[&Comparison], proofs: &Proofs) -> BTreeMap<String, Vec<Checked>> {
    let mut forms: BTreeMap<&str, [BTreeSet<&str>; 2]> = BTreeMap::new();
    for comparison in comparisons {
        for cell in comparison.cells.iter().filter(|cell| !cell.reference) {
            let of = forms.entry(&cell.implementation).or_default();
            of[usize::from(cell.measured().is_none())].insert(&comparison.scenario.form);
        }
    }
    let each = forms.into_iter().map(|(name, [measured, failed])| {
        let forms = if measured.is_empty() {
            failed
        } else {
            measured
        };
        (name.to_owned(), proofs.in_forms(name, forms))
    });
    each.collect()
}

fn rank(
    (group, quantity): (&str, Quantity),
    view: View,
    comparisons: &[&Comparison],
    proofs: &Proofs,
    exploratory: bool,
) -> Ranking {
    let checked = checked(comparisons, proofs);
    let of_proved = comparisons.iter().copied();
    let of_proved: Vec<&Comparison> = of_proved.filter(|c| proved(c).next().is_some()).collect();
    let entered: BTreeSet<&str> = of_proved.iter().flat_map(|c| proved(c)).collect();
    let mut entrants: BTreeMap<&str, Entrant> = BTreeMap::new();
    for comparison in comparisons {
        for cell in comparison.cells.iter().filter(|cell| !cell.reference) {
            let Some(measured) = cell.measured() else {
                continue;
            };
            // An implementation that is proved in another form only lacks this cell.
            if !cell.competes() && entered.contains(&*cell.implementation) {
                continue;
            }
            let entrant = entrants.entry(&cell.implementation).or_insert(Entrant {
                name: &cell.implementation,
                origin: cell.origin,
                unproved: cell.unproved.as_deref(),
                cells: Vec::new(),
            });
            entrant.cells.push(measured);
        }
    }
    let cells = match of_proved.len() {
        0 => comparisons.len(),
        n => n,
    };
    let mut entrants: Vec<Entrant> = entrants.into_values().collect();
    // Unproved ones last. Then by coverage, so all complete entrants come before all partial ones: a ratio over few
    // cells is weak evidence beside one over many.
    entrants.sort_by(|a, b| {
        let by_proof = a.unproved.is_some().cmp(&b.unproved.is_some());
        let by_coverage = b.cells.len().cmp(&a.cells.len());
        let by_ratio = || b.mean().total_cmp(&a.mean());
        let by_name = || a.name.cmp(b.name);
        let by_proof = by_proof.then(by_coverage);
        by_proof.then_with(by_ratio).then_with(by_name)
    });
    let mut ranking = Ranking {
        group: group.to_owned(),
        quantity,
        view,
        cells,
        scenarios: comparisons
            .iter()
            .map(|c| c.scenario.name.clone())
            .collect(),
        ranks: Vec::new(),
        checked,
    };
    let concludes = !exploratory && ranking.is_ranked();
    let complete = entrants.partition_point(|e| e.unproved.is_none() && e.cells.len() == cells);
    let judged = judge(&entrants[..complete], &of_proved, concludes);
    // Partial entrants ran other cells: they share one tier after all complete ones.
    let after_all = match judged.last() {
        Some((last, _)) if concludes => last + 1,
        _ => 1,
    };
    let judged = judged
        .into_iter()
        .chain(std::iter::repeat((after_all, Standing::Undecided)));
    for (entrant, (tier, standing)) in entrants.iter().zip(judged) {
        let (lo, hi) = entrant.interval();
        let ratio = entrant.mean().exp();
        ranking.ranks.push(Rank {
            implementation: entrant.name.to_owned(),
            origin: entrant.origin,
            ratio,
            lo: lo.exp().min(ratio),
            hi: hi.exp().max(ratio),
            tier,
            standing,
            cells: entrant.cells.len(),
            bounds: entrant.bounds(),
            unproved: entrant.unproved.map(str::to_owned),
        });
    }
    ranking
}

/// Tiers and verdicts of complete entrants in order. The contest over all of them says which ones may be the best. The
/// first tier ends where all that follow are slower than its best, and the rest have a contest of their own.
fn judge(
    entrants: &[Entrant],
    comparisons: &[&Comparison],
    concludes: bool,
) -> Vec<(u32, Standing)> {
    let mut judged: Vec<(u32, Standing)> = Vec::new();
    let mut tier = 1;
    let mut first = 0;
    while first < entrants.len() {
        let rest = &entrants[first..];
        let contest = Contest::new(rest.len(), concludes, |i, j| {
            lead(&rest[i], &rest[j], comparisons)
        });
        let places = contest.places(concludes);
        if first == 0 {
            judged.extend(places.iter().map(|&place| (tier, place.into())));
        }
        let is_slower = |place: &Place| *place == Place::Slower;
        let last = places.iter().rposition(|place| !is_slower(place));
        first += last.unwrap_or(0) + 1;
        tier += 1;
        for (of, _) in judged.iter_mut().skip(first) {
            *of = tier;
        }
    }
    judged
}

/// How far an entrant is ahead of another: the mean over the cells in which neither number is a bound. The true value may
/// lie anywhere below a bound, so a bound tells no pair apart.
fn lead(ahead: &Entrant, behind: &Entrant, comparisons: &[&Comparison]) -> Option<Lead> {
    let cells = comparisons.iter().enumerate();
    let exact = cells.filter(|&(n, _)| !is_bound(ahead.cells[n]) && !is_bound(behind.cells[n]));
    let forks: Vec<Vec<f64>> = exact
        .map(|(_, comparison)| comparison.by_fork(ahead.name, behind.name))
        .collect();
    let statistic = Statistic::of(&forks)?;
    Some(Lead::of_statistic(statistic.mean_of(forks.len())))
}
