//! Implementations in order: the geometric mean of their ratios to the best of each cell, in tiers.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use flowmeter_harness::caps::Origin;

use super::RESAMPLES;
use super::bootstrap::interval;
use super::compare::{Comparison, differences};
use super::estimates::{Rank, Ranking, Standing, Twin, View};
use super::significance::{discoveries, fork_medians, p_value};
use crate::checked::{Checked, Proofs};

/// The cells of an implementation in one view.
struct Entrant<'a> {
    name: &'a str,
    origin: Origin,
    /// Why it has no place in the order: nothing was proved of it.
    unproved: Option<&'a str>,
    cells: Vec<Entered>,
    /// Sum of log-ratios in every resample.
    draws: Vec<f64>,
}

/// One of them.
struct Entered {
    log_ratio: f64,
    /// The number is a bound.
    bound: bool,
}

impl Entrant<'_> {
    fn mean(&self) -> f64 {
        self.cells.iter().map(|cell| cell.log_ratio).sum::<f64>() / self.cells.len() as f64
    }

    fn bounds(&self) -> usize {
        self.cells.iter().filter(|cell| cell.bound).count()
    }
}

/// The rankings of every group: over all cells, over the shared ones, and over those of each form, where these differ.
/// An exploratory run has one tier, since it calls nothing faster; so has a view of few cells. References are in no
/// ranking. Unproved implementations come last, in no order.
pub fn rankings(comparisons: &[Comparison], proofs: &Proofs, exploratory: bool) -> Vec<Ranking> {
    let mut groups: Vec<&str> = comparisons.iter().map(|c| &*c.scenario.group).collect();
    groups.dedup();
    let mut rankings = Vec::new();
    for group in groups {
        let all: Vec<&Comparison> = comparisons
            .iter()
            .filter(|c| c.scenario.group == group && !c.draws.is_empty())
            .collect();
        let everyone: BTreeSet<&str> = all.iter().flat_map(|c| proved(c)).collect();
        let shared: Vec<&Comparison> = all
            .iter()
            .copied()
            .filter(|c| !everyone.is_empty() && proved(c).count() == everyone.len())
            .collect();
        let forms: BTreeSet<&str> = all.iter().map(|c| &*c.scenario.form).collect();
        let mut views = vec![(View::All, all.clone())];
        if !shared.is_empty() && shared.len() < all.len() {
            views.push((View::Shared, shared));
        }
        if forms.len() > 1 {
            for form in forms {
                let of_form = all.iter().copied().filter(|c| c.scenario.form == form);
                views.push((View::Form(form.to_owned()), of_form.collect()));
            }
        }
        for (view, cells) in views {
            if !cells.is_empty() {
                rankings.push(rank(group, view, &cells, proofs, exploratory));
            }
        }
    }
    rankings
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
    group: &str,
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
                draws: vec![0.0; RESAMPLES],
            });
            entrant.cells.push(Entered {
                log_ratio: measured.ratio.ln(),
                bound: measured.standing == Standing::AtMost,
            });
            for (sum, &draw) in entrant
                .draws
                .iter_mut()
                .zip(&comparison.draws[entrant.name])
            {
                *sum += f64::from(draw);
            }
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
        view,
        cells,
        scenarios: comparisons
            .iter()
            .map(|c| c.scenario.name.clone())
            .collect(),
        ranks: Vec::new(),
        checked,
    };
    let one_tier = exploratory || !ranking.is_ranked();
    let complete = entrants.partition_point(|e| e.unproved.is_none() && e.cells.len() == cells);
    let tiers = if one_tier {
        vec![1; complete]
    } else {
        tiers(&entrants[..complete], &of_proved)
    };
    // Partial entrants ran other cells: they share one tier after all complete ones.
    let after_all = match tiers.last() {
        Some(last) if !one_tier => last + 1,
        _ => 1,
    };
    let tiers = tiers.into_iter().chain(std::iter::repeat(after_all));
    for (entrant, tier) in entrants.iter().zip(tiers) {
        let n = entrant.cells.len() as f64;
        let mut draws: Vec<f64> = entrant.draws.iter().map(|sum| sum / n).collect();
        let (lo, hi) = interval(&mut draws);
        let ratio = entrant.mean().exp();
        ranking.ranks.push(Rank {
            implementation: entrant.name.to_owned(),
            origin: entrant.origin,
            ratio,
            lo: lo.exp().min(ratio),
            hi: hi.exp().max(ratio),
            tier,
            cells: entrant.cells.len(),
            bounds: entrant.bounds(),
            unproved: entrant.unproved.map(str::to_owned),
        });
    }
    ranking
}

/// Tiers of complete entrants in order. A new tier begins with an entrant that is slower than every member of the tier
/// before, by the rule for cells. The interval of the paired ratio excludes 1. The effect exceeds the noise floor (here
/// the mean of the cells' floors) and half its own interval. And it survives Benjamini-Hochberg, here over all pairs of
/// the ranking. Without any placebo the noise is unknown, and all share one tier.
///
/// A pair is judged by the cells in which neither number is a bound. The true value may lie anywhere below a bound, so
/// a bound distinguishes no pair.
fn tiers(entrants: &[Entrant], comparisons: &[&Comparison]) -> Vec<u32> {
    // The pairs of one entrant with all before it are adjacent.
    let pairs_of = |slower: usize| -> Range<usize> {
        let first = slower * slower.saturating_sub(1) / 2;
        first..first + slower
    };
    let mut pairs = Vec::new();
    for (slower, entrant) in entrants.iter().enumerate() {
        let faster = entrants[..slower].iter();
        pairs.extend(faster.map(|faster| Pair::of(entrant, faster, comparisons)));
    }
    let found = discoveries(&pairs.iter().map(Pair::p_value).collect::<Vec<_>>());
    let mut tiers = Vec::new();
    let (mut tier, mut first) = (1, 0);
    for n in 0..entrants.len() {
        let (pairs, found) = (&pairs[pairs_of(n)], &found[pairs_of(n)]);
        let slower = |of: usize| found[of] && pairs[of].is_slower();
        // The nearest first: it is the most likely one to be level.
        if n > 0 && (first..n).rev().all(slower) {
            (tier, first) = (tier + 1, n);
        }
        tiers.push(tier);
    }
    tiers
}

/// Two complete entrants, the one that may be slower first.
struct Pair<'a> {
    slower: &'a Entrant<'a>,
    faster: &'a Entrant<'a>,
    /// Indices and comparisons of the cells in which neither has a bound.
    exact: Vec<(usize, &'a Comparison<'a>)>,
}

impl<'a> Pair<'a> {
    fn of(
        slower: &'a Entrant<'a>,
        faster: &'a Entrant<'a>,
        comparisons: &[&'a Comparison<'a>],
    ) -> Pair<'a> {
        let cells = comparisons.iter().copied().enumerate();
        let exact = cells.filter(|&(n, _)| !slower.cells[n].bound && !faster.cells[n].bound);
        Pair {
            slower,
            faster,
            exact: exact.collect(),
        }
    }

    /// The p-value of "as fast as the other"; 1 if no cell can tell.
    fn p_value(&self) -> f64 {
        if self.exact.is_empty() {
            return 1.0;
        }
        let of_scenario = |(_, c): &(usize, &Comparison)| {
            let apart = differences(&c.logs[self.slower.name], &c.logs[self.faster.name]);
            fork_medians(&c.forks, &apart)
        };
        p_value(&self.exact.iter().map(of_scenario).collect::<Vec<_>>())
    }

    /// Whether the interval of the ratio lies below 1, by more than the noise floor and half its width. The resamples
    /// are paired: both were drawn from the same rounds.
    fn is_slower(&self) -> bool {
        let cells = self.exact.iter();
        let floors: Vec<f64> = cells
            .filter_map(|(_, c)| c.placebos.iter().map(Twin::floor).reduce(f64::max))
            .collect();
        if floors.is_empty() {
            return false;
        }
        let n = self.exact.len() as f64;
        let mut draws = vec![0.0; RESAMPLES];
        let mut apart = 0.0;
        for &(place, comparison) in &self.exact {
            let of = |entrant: &Entrant| &comparison.draws[entrant.name];
            let pairs = of(self.slower).iter().zip(of(self.faster));
            for (sum, (slower, faster)) in draws.iter_mut().zip(pairs) {
                *sum += f64::from(slower - faster) / n;
            }
            let log_ratio = |entrant: &Entrant| entrant.cells[place].log_ratio;
            apart += (log_ratio(self.faster) - log_ratio(self.slower)) / n;
        }
        let (lo, hi) = interval(&mut draws);
        hi < 0.0 && apart > mean(&floors).max((hi - lo) / 2.0)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
