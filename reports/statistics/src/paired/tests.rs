//! Calibration by simulation: how often a call is false, how often an interval holds the truth, and how often a change
//! is found.

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::RELEVANT;
use crate::simulated::{Tails, draw};

/// Cells of a family.
const CELLS: usize = 100;
/// The forks after which a run is looked at.
const LOOKS: [usize; 5] = [8, 16, 32, 64, 128];

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

/// How the forks of a cell scatter.
#[derive(Clone, Copy, Debug)]
enum Scatter {
    /// By this standard deviation, with these tails.
    One(Tails, f64),
    /// Each build is in one of two modes in a fork, this share of forks in the lower one, by this factor.
    Modes(f64, f64),
}

impl Scatter {
    fn draw(self, rng: &mut impl Rng) -> f64 {
        match self {
            Scatter::One(tails, spread) => spread * draw(tails, rng),
            Scatter::Modes(share, factor) => {
                let mut build = || f64::from(u8::from(rng.random_bool(share))) * factor.ln();
                let (new, base) = (build(), build());
                new - base + 0.01 * draw(Tails::Normal, rng)
            }
        }
    }
}

/// The verdicts of a family with cells that end as `ab` ends them, and how many forks it took. Without a threshold every
/// rejection is a call, and ends its cell.
fn calls_in_looks(
    cells: &[(f64, Scatter)],
    threshold: f64,
    rng: &mut impl Rng,
) -> (Vec<Call>, usize) {
    let stop = Stop {
        threshold,
        level: LOOKS[1],
        last: LOOKS[4],
    };
    let mut forks: Vec<Vec<f64>> = vec![Vec::new(); cells.len()];
    let mut pairs = vec![unjudged(); cells.len()];
    for look in LOOKS {
        let all = pairs.iter_mut().zip(&mut forks).zip(cells);
        for ((pair, forks), (change, scatter)) in all {
            let ends = match pair.forks {
                0 => false,
                _ if threshold == 0.0 => pair.verdict != Call::Undecided,
                _ => stop.ends(pair),
            };
            if !ends {
                forks.resize_with(look, || change + scatter.draw(rng));
                pair.forks = look;
            }
        }
        let of = |forks: &Vec<f64>| Statistic::of(slice::from_ref(forks));
        let statistics: Vec<_> = forks.iter().map(of).collect();
        conclude(&mut pairs, &statistics, LOOKS.len() as u32, threshold);
    }
    let verdicts = pairs.iter().map(|pair| pair.verdict).collect();
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
    const FAMILIES: usize = 100;
    for scatter in [
        Scatter::One(Tails::Normal, 0.03),
        Scatter::One(Tails::Heavy, 0.03),
        Scatter::One(Tails::Stalls, 0.03),
        Scatter::Modes(0.5, 1.5),
        Scatter::Modes(0.1, 1.5),
    ] {
        // Cells of two modes are judged as `ab` judges them.
        let threshold = match scatter {
            Scatter::One(..) => 0.0,
            Scatter::Modes(..) => RELEVANT,
        };
        let mut rng = Pcg64Mcg::seed_from_u64(6);
        let any = (0..FAMILIES).filter(|_| {
            let (calls, _) = calls_in_looks(&[(0.0, scatter); CELLS], threshold, &mut rng);
            let is_false = |call: &Call| matches!(call, Call::Slower | Call::Faster);
            calls.iter().any(is_false)
        });
        let share = any.count() as f64 / FAMILIES as f64;
        // Three standard errors of the simulation are 0.06. Uncorrected, a fifth of them would have a call.
        assert!(share <= 0.11, "{scatter:?}: {share}");
    }
}

#[test]
fn looks_keep_the_rate_of_false_calls_of_no_difference() {
    const TRIALS: usize = 1_000;
    let change = (1.0 - RELEVANT).ln();
    // Where the spread is small, a single look decides; where it is large, each look may.
    for spread in [0.01, 0.03, 0.06] {
        let mut rng = Pcg64Mcg::seed_from_u64(7);
        let cell = (change, Scatter::One(Tails::Normal, spread));
        let level =
            (0..TRIALS).filter(|_| calls_in_looks(&[cell], RELEVANT, &mut rng).0 == [Call::Level]);
        let share = level.count() as f64 / TRIALS as f64;
        // Three standard errors of the simulation are 0.021.
        assert!(share <= 0.071, "{spread}: {share}");
    }
}

#[test]
fn looks_call_a_change_below_the_threshold_no_oftener_than_one_look() {
    const TRIALS: usize = 800;
    let change = 0.96_f64.ln();
    let cell = (change, Scatter::One(Tails::Normal, 0.02));
    let mut rng = Pcg64Mcg::seed_from_u64(11);
    let is_slower = |calls: &[Call]| calls[0] == Call::Slower;
    let looks = (0..TRIALS)
        .filter(|_| is_slower(&calls_in_looks(&[cell], RELEVANT, &mut rng).0))
        .count();
    let once = (0..TRIALS)
        .filter(|_| {
            let forks = (0..12).map(|_| change + cell.1.draw(&mut rng)).collect();
            let cell = Statistic::of(&[forks]).expect("there are forks enough");
            is_slower(&calls(&[cell], 1, RELEVANT))
        })
        .count();
    assert!(looks <= once, "{looks} and {once} of {TRIALS}");
}

#[test]
fn looks_find_a_tenth_in_cells_of_all_kinds_with_few_forks() {
    const FAMILIES: usize = 10;
    let tenth = 0.9_f64.ln();
    // Seven cells of ten are quiet, two vary and one varies much.
    let cell = |index: usize| match index % 10 {
        0 => (tenth, Scatter::One(Tails::Normal, 0.12)),
        1 | 2 => (tenth, Scatter::One(Tails::Normal, 0.05)),
        _ => (tenth, Scatter::One(Tails::Normal, 0.015)),
    };
    let cells: Vec<_> = (0..CELLS).map(cell).collect();
    let mut rng = Pcg64Mcg::seed_from_u64(8);
    let (mut found, mut forks) = (0, 0);
    for _ in 0..FAMILIES {
        let (calls, took) = calls_in_looks(&cells, RELEVANT, &mut rng);
        found += calls.iter().filter(|&&call| call == Call::Slower).count();
        forks += took;
    }
    let cells = (FAMILIES * CELLS) as f64;
    let (found, forks) = (found as f64 / cells, forks as f64 / cells);
    assert!(found >= 0.95, "{found}");
    assert!(forks <= 18.0, "{forks} forks a cell");
}
