//! Implementations in order: the geometric mean of their ratios to the best of each cell, in tiers.

use std::collections::{BTreeMap, BTreeSet};

use flowmeter_harness::caps::Origin;

use super::RESAMPLES;
use super::bootstrap::interval;
use super::compare::Comparison;
use super::estimates::{Rank, Ranking, View};
use super::samples::group_order;

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
/// that makes a difference.
pub fn rankings(comparisons: &[Comparison]) -> Vec<Ranking> {
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
                rankings.push(rank(group, view, &cells));
            }
        }
    }
    rankings
}

fn rank(group: &str, view: View, comparisons: &[&Comparison]) -> Ranking {
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
    entrants.sort_by(|a, b| {
        let partial = |e: &Entrant| e.log_ratios.len() < cells;
        let by_ratio = || mean(&b.log_ratios).total_cmp(&mean(&a.log_ratios));
        let by_name = || a.name.cmp(b.name);
        partial(a)
            .cmp(&partial(b))
            .then_with(by_ratio)
            .then_with(by_name)
    });
    let mut ranks = Vec::new();
    let mut tier = 0;
    let mut leader: Option<&Entrant> = None;
    for entrant in &entrants {
        let partial = entrant.log_ratios.len() < cells;
        let new_tier = match leader {
            None => true,
            Some(leader) => {
                let leader_is_partial = leader.log_ratios.len() < cells;
                // Partial entrants ran other cells: they share one tier after all complete ones.
                partial != leader_is_partial || (!partial && differ(entrant, leader))
            }
        };
        if new_tier {
            tier += 1;
            leader = Some(entrant);
        }
        let n = entrant.log_ratios.len() as f64;
        let mut draws: Vec<f64> = entrant.draws.iter().map(|sum| sum / n).collect();
        let (lo, hi) = interval(&mut draws);
        ranks.push(Rank {
            implementation: entrant.name.to_owned(),
            origin: entrant.origin,
            ratio: mean(&entrant.log_ratios).exp(),
            lo: lo.exp(),
            hi: hi.exp(),
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

/// Whether the interval of the ratio of two complete entrants excludes 1. Their resamples are paired:
/// both were drawn from the same rounds.
fn differ(a: &Entrant, b: &Entrant) -> bool {
    let mut draws: Vec<f64> = a.draws.iter().zip(&b.draws).map(|(a, b)| a - b).collect();
    let (lo, hi) = interval(&mut draws);
    lo > 0.0 || hi < 0.0
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
