//! Calibration by simulation: how often a call is false, how often an interval holds the truth, and how often a change
//! is found.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::RELEVANT;
use crate::simulated::{Tails, draw};

/// Cells of a family.
const CELLS: usize = 100;
/// The forks after which a run is looked at.
const LOOKS: [usize; 4] = [6, 12, 24, 48];

fn cell(tails: Tails, forks: usize, change: f64, spread: f64, rng: &mut impl Rng) -> Statistic {
    let forks = (0..forks).map(|_| change + spread * draw(tails, rng));
    Statistic::of(&[forks.collect()]).expect("there are forks enough")
}

/// The verdicts of a family after so many looks.
fn calls(cells: &[Statistic], looks: u32, threshold: f64) -> Vec<Call> {
    let cells: Vec<_> = cells.iter().copied().map(Some).collect();
    let mut pairs = vec![unjudged(); cells.len()];
    conclude(&mut pairs, &cells, looks, threshold);
    pairs.iter().map(|pair| pair.verdict).collect()
}

fn unjudged() -> Pair {
    Pair {
        scenario: String::new(),
        implementation: String::new(),
        unit: String::new(),
        better: Better::Higher,
        base: None,
        new: None,
        ratio: None,
        ratio_lo: None,
        ratio_hi: None,
        p: None,
        forks: 0,
        verdict: Call::Undecided,
        why: None,
    }
}

/// The verdicts of a family whose cells end once they are decided, and how many forks it took. Looks are after 6, 12, 24
/// and 48 forks. `changes` and `spreads` are the cells'.
fn calls_in_looks(
    tails: Tails,
    changes: &[f64],
    spreads: &[f64],
    threshold: f64,
    rng: &mut impl Rng,
) -> (Vec<Call>, usize) {
    let mut forks: Vec<Vec<f64>> = vec![Vec::new(); changes.len()];
    let mut verdicts = vec![Call::Undecided; changes.len()];
    for look in LOOKS {
        for (index, forks) in forks.iter_mut().enumerate() {
            while verdicts[index] == Call::Undecided && forks.len() < look {
                forks.push(changes[index] + spreads[index] * draw(tails, rng));
            }
        }
        let cells: Vec<_> = forks
            .iter()
            .map(|forks| Statistic::of(slice::from_ref(forks)).expect("there are forks enough"))
            .collect();
        verdicts = calls(&cells, LOOKS.len() as u32, threshold);
    }
    (verdicts, forks.iter().map(Vec::len).sum())
}

/// The share of families of unchanged cells with any rejection. A threshold makes it smaller.
fn false_families(tails: Tails, forks: usize) -> f64 {
    const FAMILIES: usize = 1_000;
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let any = (0..FAMILIES).filter(|_| {
        let cells = (0..CELLS).map(|_| cell(tails, forks, 0.0, 0.03, &mut rng).p(1.0));
        holm(&cells.collect::<Vec<_>>()).iter().any(|&p| p <= ERROR)
    });
    any.count() as f64 / FAMILIES as f64
}

/// The share of cells with this change that are called slower, each among 99 unchanged ones.
fn power(change: f64, forks: usize, spread: f64) -> f64 {
    const FAMILIES: usize = 400;
    let mut rng = Pcg64Mcg::seed_from_u64(2);
    let found = (0..FAMILIES).filter(|_| {
        let changes = (0..CELLS).map(|index| if index == 0 { change } else { 0.0 });
        let cells: Vec<_> = changes
            .map(|change| cell(Tails::Normal, forks, change, spread, &mut rng))
            .collect();
        calls(&cells, 1, RELEVANT)[0] == Call::Slower
    });
    found.count() as f64 / FAMILIES as f64
}

#[test]
fn at_most_one_family_in_twenty_of_unchanged_cells_has_a_call() {
    for tails in [Tails::Normal, Tails::Heavy, Tails::Stalls] {
        for forks in [8, 12, 20] {
            let share = false_families(tails, forks);
            // Three standard errors of the simulation are 0.02.
            assert!(share <= 0.07, "{tails:?}, {forks} forks: {share}");
        }
    }
}

#[test]
fn an_interval_holds_the_truth_in_at_least_93_percent() {
    const TRIALS: usize = 20_000;
    for tails in [Tails::Normal, Tails::Heavy, Tails::Stalls] {
        for forks in [8, 12, 20] {
            let mut rng = Pcg64Mcg::seed_from_u64(3);
            let held = (0..TRIALS).filter(|_| {
                let (lo, hi) = cell(tails, forks, 0.1, 0.03, &mut rng).interval(1.0 - ERROR);
                lo <= 0.1 && 0.1 <= hi
            });
            let share = held.count() as f64 / TRIALS as f64;
            assert!(share >= 0.93, "{tails:?}, {forks} forks: {share}");
            let is_normal = matches!(tails, Tails::Normal);
            assert!(!is_normal || (share - 0.95).abs() < 0.01, "{share}");
        }
    }
}

#[test]
fn a_tenth_is_found_in_one_cell_of_a_hundred() {
    let tenth = 0.9_f64.ln();
    // Forks, the standard deviation of a fork, and the least share of cells that are called.
    for (forks, spread, least) in [
        (8, 0.02, 0.99),
        (8, 0.03, 0.95),
        (12, 0.03, 0.99),
        (12, 0.05, 0.93),
        (20, 0.05, 0.99),
        (20, 0.08, 0.88),
    ] {
        let found = power(tenth, forks, spread);
        assert!(found >= least, "{forks} forks, {spread}: {found}");
    }
}

#[test]
fn a_change_of_the_threshold_is_called_no_difference_in_at_most_one_of_twenty() {
    const TRIALS: usize = 20_000;
    let mut rng = Pcg64Mcg::seed_from_u64(4);
    let change = (1.0 - RELEVANT).ln();
    let level = (0..TRIALS).filter(|_| {
        let cell = cell(Tails::Normal, 12, change, 0.03, &mut rng);
        call(cell, 1.0, 1.0, RELEVANT) == Call::Level
    });
    let share = level.count() as f64 / TRIALS as f64;
    assert!(share <= 0.055, "{share}");
}

#[test]
fn a_quiet_unchanged_cell_is_shown_to_be_alike() {
    let mut rng = Pcg64Mcg::seed_from_u64(5);
    let cells: Vec<_> = (0..CELLS)
        .map(|_| cell(Tails::Normal, 12, 0.0, 0.03, &mut rng))
        .collect();
    let calls = calls(&cells, 1, RELEVANT);
    let level = calls.iter().filter(|&&call| call == Call::Level).count();
    assert!(level >= 99, "{level}");
}

#[test]
fn a_change_below_the_threshold_is_no_call_however_certain() {
    let certain = Statistic::of(&[vec![-0.03, -0.0301, -0.0299, -0.03]]).unwrap();
    assert_eq!(call(certain, certain.p(1.0), 1.0, RELEVANT), Call::Level);
    assert_eq!(call(certain, certain.p(1.0), 1.0, 0.01), Call::Slower);
}

#[test]
fn looks_keep_the_rate_of_false_calls() {
    const FAMILIES: usize = 250;
    for tails in [Tails::Normal, Tails::Heavy, Tails::Stalls] {
        let mut rng = Pcg64Mcg::seed_from_u64(6);
        // Without a threshold every rejection is a call, and no cell is ever level.
        let any = (0..FAMILIES).filter(|_| {
            let (calls, _) = calls_in_looks(tails, &[0.0; CELLS], &[0.03; CELLS], 0.0, &mut rng);
            calls.iter().any(|&call| call != Call::Undecided)
        });
        let share = any.count() as f64 / FAMILIES as f64;
        // Three standard errors of the simulation are 0.04.
        assert!(share <= 0.09, "{tails:?}: {share}");
    }
}

#[test]
fn looks_keep_the_rate_of_false_calls_of_no_difference() {
    const TRIALS: usize = 3_000;
    let change = (1.0 - RELEVANT).ln();
    // Where the spread is small, a single look decides; where it is large, each of the four may.
    for spread in [0.01, 0.03, 0.06] {
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        let level = (0..TRIALS).filter(|_| {
            let (calls, _) =
                calls_in_looks(Tails::Normal, &[change], &[spread], RELEVANT, &mut rng);
            calls[0] == Call::Level
        });
        let share = level.count() as f64 / TRIALS as f64;
        // Three standard errors of the simulation are 0.012.
        assert!(share <= 0.062, "{spread}: {share}");
    }
}

#[test]
fn looks_find_a_tenth_in_cells_of_all_kinds_with_few_forks() {
    const FAMILIES: usize = 20;
    let tenth = 0.9_f64.ln();
    // Seven cells of ten are quiet, two vary and one has two modes.
    let spreads: Vec<f64> = (0..CELLS)
        .map(|index| match index % 10 {
            0 => 0.15,
            1 | 2 => 0.05,
            _ => 0.015,
        })
        .collect();
    let mut rng = Pcg64Mcg::seed_from_u64(8);
    let (mut found, mut forks) = (0, 0);
    for _ in 0..FAMILIES {
        let (calls, took) =
            calls_in_looks(Tails::Normal, &[tenth; CELLS], &spreads, RELEVANT, &mut rng);
        found += calls.iter().filter(|&&call| call == Call::Slower).count();
        forks += took;
    }
    let cells = (FAMILIES * CELLS) as f64;
    let (found, forks) = (found as f64 / cells, forks as f64 / cells);
    assert!(found >= 0.95, "{found}");
    assert!(forks <= 13.0, "{forks} forks a cell");
}
