//! Implementations in order: the geometric mean of their ratios to the best of each cell, in tiers.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use flowmeter_harness::caps::Origin;

use super::RESAMPLES;
use super::bootstrap::interval;
use super::compare::{Comparison, differences};
use super::estimates::{Rank, Ranking, Twin, View};
use super::samples::group_order;
use super::significance::{discoveries, fork_medians, p_value};

/// An implementation's cells in one view.
#[derive(Clone)]
struct Entrant<'a> {
    name: &'a str,
    origin: Origin,
    log_ratios: Vec<f64>,
    /// Sum of log-ratios in every resample.
    draws: Vec<f64>,
}

/// The rankings of every group: all cells, those that everyone shares, and those of each form, where
/// that makes a difference. An exploratory run has one tier, since it calls nothing faster.
pub fn rankings(comparisons: &[Comparison], exploratory: bool) -> Vec<Ranking> {
    let mut groups: Vec<&str> = comparisons.iter().map(|c| &*c.scenario.group).collect();
    groups.sort_by_key(|g| (group_order(g), *g));
    groups.dedup();
    let mut rankings = Vec::new();
    for group in groups {
        let all: Vec<&Comparison> = comparisons
            .iter()
            .filter(|c| c.scenario.group == group && c.cells.iter().any(|c| c.measured().is_some()))
            .collect();
        let everyone: BTreeSet<&str> = all
            .iter()
            .flat_map(|c| c.draws.keys())
            .map(|n| &**n)
            .collect();
        let shared: Vec<&Comparison> = all
            .iter()
            .copied()
            .filter(|c| c.draws.len() == everyone.len())
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
                rankings.push(rank(group, view, &cells, exploratory));
            }
        }
    }
    rankings
}

fn rank(group: &str, view: View, comparisons: &[&Comparison], exploratory: bool) -> Ranking {
    let mut entrants: BTreeMap<&str, Entrant> = BTreeMap::new();
    for comparison in comparisons {
        for cell in &comparison.cells {
            let Some(measured) = cell.measured() else {
                continue;
            };
            let entrant = entrants.entry(&cell.implementation).or_insert(Entrant {
                name: &cell.implementation,
                origin: cell.origin,
                log_ratios: Vec::new(),
                draws: vec![0.0; RESAMPLES],
            });
            entrant.log_ratios.push(measured.ratio.ln());
            for (sum, &draw) in entrant
                .draws
                .iter_mut()
                .zip(&comparison.draws[entrant.name])
            {
                *sum += f64::from(draw);
            }
        }
    }
    let cells = comparisons.len();
    let mut entrants: Vec<Entrant> = entrants.into_values().collect();
    // By coverage first, so all complete ones stand before all partial ones: a ratio over few cells says
    // little beside one over many.
    entrants.sort_by(|a, b| {
        let by_coverage = b.log_ratios.len().cmp(&a.log_ratios.len());
        let by_ratio = || mean(&b.log_ratios).total_cmp(&mean(&a.log_ratios));
        let by_name = || a.name.cmp(b.name);
        by_coverage.then_with(by_ratio).then_with(by_name)
    });
    let complete = entrants.partition_point(|e| e.log_ratios.len() == cells);
    let tiers = if exploratory {
        vec![1; complete]
    } else {
        tiers(&entrants[..complete], comparisons)
    };
    // Partial entrants ran other cells: they share one tier after all complete ones.
    let after_all = match tiers.last() {
        Some(last) if !exploratory => last + 1,
        _ => 1,
    };
    let tiers = tiers.into_iter().chain(std::iter::repeat(after_all));
    let mut ranks = Vec::new();
    for (entrant, tier) in entrants.iter().zip(tiers) {
        let n = entrant.log_ratios.len() as f64;
        let mut draws: Vec<f64> = entrant.draws.iter().map(|sum| sum / n).collect();
        let (lo, hi) = interval(&mut draws);
        let ratio = mean(&entrant.log_ratios).exp();
        ranks.push(Rank {
            implementation: entrant.name.to_owned(),
            origin: entrant.origin,
            ratio,
            lo: lo.exp().min(ratio),
            hi: hi.exp().max(ratio),
            tier,
            cells: entrant.log_ratios.len(),
        });
    }
    Ranking {
        group: group.to_owned(),
        view,
        cells,
        ranks,
    }
}

/// Tiers of complete entrants in order. A new one begins where an entrant is slower than every member of
/// the tier before, by the rule that cells are judged by: the interval of the paired ratio excludes 1, the
/// effect exceeds the noise floor (here the mean of the cells' floors) and half its own interval, and it
/// survives Benjamini-Hochberg, here over all pairs of the ranking. Without any placebo the noise is unknown,
/// and all share one tier.
fn tiers(entrants: &[Entrant], comparisons: &[&Comparison]) -> Vec<u32> {
    let floors: Vec<f64> = comparisons
        .iter()
        .filter_map(|c| c.placebos.iter().map(Twin::floor).reduce(f64::max))
        .collect();
    if floors.is_empty() {
        return vec![1; entrants.len()];
    }
    let floor = mean(&floors);
    // The pairs of one entrant with all before it lie together.
    let pairs_of = |slower: usize| -> Range<usize> {
        let first = slower * slower.saturating_sub(1) / 2;
        first..first + slower
    };
    let mut p_values = Vec::new();
    for (slower, entrant) in entrants.iter().enumerate() {
        p_values.extend(entrants[..slower].iter().map(|faster| {
            let of_scenario = |c: &&Comparison| {
                let apart = differences(&c.logs[entrant.name], &c.logs[faster.name]);
                fork_medians(&c.forks, &apart)
            };
            p_value(&comparisons.iter().map(of_scenario).collect::<Vec<_>>())
        }));
    }
    let found = discoveries(&p_values);
    let mut tiers = Vec::new();
    let (mut tier, mut first) = (1, 0);
    for (n, entrant) in entrants.iter().enumerate() {
        let found = &found[pairs_of(n)];
        let slower = |of: usize| found[of] && is_slower(entrant, &entrants[of], floor);
        // The nearest first: it is the likeliest to be level.
        if n > 0 && (first..n).rev().all(slower) {
            (tier, first) = (tier + 1, n);
        }
        tiers.push(tier);
    }
    tiers
}

/// Whether the interval of the ratio of two complete entrants lies below 1, by more than that floor and
/// half its width. Their resamples are paired: both were drawn from the same rounds.
fn is_slower(entrant: &Entrant, than: &Entrant, floor: f64) -> bool {
    let cells = entrant.log_ratios.len() as f64;
    let pairs = entrant.draws.iter().zip(&than.draws);
    let mut draws: Vec<f64> = pairs.map(|(a, b)| (a - b) / cells).collect();
    let (lo, hi) = interval(&mut draws);
    let apart = mean(&than.log_ratios) - mean(&entrant.log_ratios);
    hi < 0.0 && apart > floor.max((hi - lo) / 2.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
