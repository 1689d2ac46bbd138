//! What is called, and calibration by simulation: how often a call is false, how often an interval holds the truth, and
//! how often a difference is found.

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::simulated::{Tails, draw};

/// The forks of a run.
const FORKS: usize = 5;

/// Entries with those logarithms of forks.
fn contest(entries: &[Vec<f64>]) -> Contest {
    Contest::new(entries.len(), true, |i, j| {
        let pairs = entries[i].iter().zip(&entries[j]);
        let forks: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
        Lead::of(&forks, &forks)
    })
}

/// Five forks around a level, that differ by about `spread`; no two salts scatter alike.
fn around(level: f64, spread: f64, salt: usize) -> Vec<f64> {
    const SHAPE: [f64; 5] = [0.9, -0.4, 0.3, -1.0, 0.2];
    let forks = (0..FORKS).map(|fork| level + spread * SHAPE[(fork * (salt + 1)) % 5]);
    forks.collect()
}

fn places(entries: &[Vec<f64>]) -> Vec<Place> {
    contest(entries).places(true)
}

#[test]
fn one_that_is_ahead_of_all_by_more_than_the_margin_is_the_best() {
    let entries = [
        around(0.0, 0.01, 0),
        around(-0.2, 0.01, 1),
        around(-1.0, 0.1, 2),
    ];
    assert_eq!(
        places(&entries),
        [Place::Best, Place::Slower, Place::Slower]
    );
    let best = contest(&entries).distance(0).unwrap();
    assert_eq!((best.ratio, best.lo, best.hi), (1.0, 1.0, 1.0));
}

#[test]
fn a_difference_below_the_margin_is_no_call_however_certain() {
    let entries = [
        around(0.0, 1e-4, 0),
        around(-0.02, 1e-4, 1),
        around(-0.5, 1e-4, 2),
    ];
    assert_eq!(
        places(&entries),
        [Place::Level, Place::Level, Place::Slower]
    );
    let second = contest(&entries).distance(1).unwrap();
    assert!(second.hi < 1.0, "it is certain: {second:?}");
}

#[test]
fn what_scatters_more_than_it_differs_is_undecided() {
    let entries = [
        around(0.0, 0.2, 0),
        around(-0.1, 0.2, 1),
        around(-3.0, 0.2, 2),
    ];
    assert_eq!(
        places(&entries),
        [Place::Undecided, Place::Undecided, Place::Slower]
    );
    let contest = contest(&entries);
    assert_eq!(contest.distance(1).unwrap().hi, 1.0, "it may be the best");
    assert!(contest.distance(0).unwrap().lo < 1.0, "so may the other");
    assert!(contest.distance(2).unwrap().hi < 0.1);
}

#[test]
fn far_entries_do_not_blunt_the_test_of_the_close_ones() {
    let two = vec![around(0.0, 0.05, 0), around(-0.15, 0.05, 2)];
    let mut twenty = two.clone();
    twenty.extend((0..18).map(|n| around(-2.0 - 0.1 * n as f64, 0.05, n)));
    let (two, twenty) = (contest(&two), contest(&twenty));
    assert!(two.p(1) <= ERROR, "{}", two.p(1));
    assert_eq!(two.p(1), twenty.p(1));
    assert_eq!(two.distance(1), twenty.distance(1));
}

#[test]
fn one_fork_decides_nothing_and_shows_its_rounds() {
    let lead = Lead::of(&[-0.3], &[-0.4, -0.3, -0.2]).unwrap();
    let contest = Contest::new(2, true, |_, _| Some(lead));
    assert_eq!(contest.places(true), [Place::Undecided, Place::Undecided]);
    assert_eq!(lead.p(), 1.0);
    let (lo, hi) = lead.interval();
    assert!(lo < 0.7 && hi > 0.8, "{lo} to {hi}");
    let silent = Contest::new(2, false, |_, _| Some(lead));
    assert_eq!(silent.places(false), [Place::Undecided; 2]);
    let ratio = silent.distance(1).unwrap();
    assert!((ratio.ratio - 0.7408).abs() < 1e-3 && ratio.hi > ratio.ratio);
}

#[test]
fn two_forks_decide_nothing_however_close_or_far() {
    for log in [-0.01, -3.0] {
        for forks in [&[log][..], &[log, log + 0.001]] {
            let lead = Lead::of(forks, &[log, log - 0.001, log + 0.001]).unwrap();
            assert!(!lead.is_tested());
            let contest = Contest::new(2, true, |_, _| Some(lead));
            assert_eq!(contest.places(true), [Place::Undecided; 2], "{forks:?}");
        }
    }
}

#[test]
fn one_that_never_met_the_leader_has_no_ratio() {
    let forks = around(-0.5, 0.01, 0);
    let contest = Contest::new(3, true, |i, j| {
        ((i, j) == (1, 0)).then(|| Lead::of(&forks, &forks))?
    });
    assert_eq!(contest.leader(), Some(0));
    assert_eq!(contest.distance(2), None);
}

#[test]
fn one_alone_is_the_best() {
    assert_eq!(places(&[around(0.0, 0.1, 0)]), [Place::Best]);
    assert!(places(&[]).is_empty());
}

/// The levels of the entries, in units of which the best has 0, and how they vary.
struct Case {
    name: &'static str,
    levels: fn(usize, usize) -> f64,
    spread: fn(usize) -> f64,
    tails: Tails,
}

const EVEN: fn(usize) -> f64 = |_| 0.1;
const CASES: [Case; 8] = [
    Case {
        name: "equal",
        levels: |_, _| 0.0,
        spread: EVEN,
        tails: Tails::Normal,
    },
    Case {
        name: "equal, heavy tails",
        levels: |_, _| 0.0,
        spread: EVEN,
        tails: Tails::Heavy,
    },
    Case {
        name: "equal, stalls",
        levels: |_, _| 0.0,
        spread: EVEN,
        tails: Tails::Stalls,
    },
    Case {
        name: "equal, skewed",
        levels: |_, _| 0.0,
        spread: EVEN,
        tails: Tails::Skewed,
    },
    Case {
        name: "equal, unlike spreads",
        levels: |_, _| 0.0,
        spread: |i| 0.02 * 2_f64.powi(i as i32 % 5),
        tails: Tails::Normal,
    },
    Case {
        name: "half far behind",
        levels: |i, k| if i < k / 2 { 0.0 } else { -3.0 },
        spread: EVEN,
        tails: Tails::Normal,
    },
    Case {
        name: "half just behind",
        levels: |i, k| if i < k / 2 { 0.0 } else { -0.2 },
        spread: EVEN,
        tails: Tails::Normal,
    },
    Case {
        name: "a slope",
        levels: |i, _| -0.1 * i.saturating_sub(1) as f64,
        spread: EVEN,
        tails: Tails::Normal,
    },
];

impl Case {
    fn simulate(&self, entries: usize, rng: &mut Pcg64Mcg) -> Contest {
        let values = (0..entries).map(|i| {
            let level = (self.levels)(i, entries);
            let forks = (0..FORKS).map(|_| level + (self.spread)(i) * draw(self.tails, rng));
            forks.collect()
        });
        contest(&values.collect::<Vec<_>>())
    }
}

#[test]
fn at_most_one_family_in_twenty_loses_an_entry_that_is_as_good_as_the_best() {
    const FAMILIES: usize = 2_000;
    for case in CASES {
        for entries in [2, 5, 16] {
            let mut rng = Pcg64Mcg::seed_from_u64(1);
            let is_best = |i: usize| (case.levels)(i, entries) == 0.0;
            let lost = (0..FAMILIES).filter(|_| {
                let contest = case.simulate(entries, &mut rng);
                (0..entries).any(|i| is_best(i) && !contest.candidates[i])
            });
            let share = lost.count() as f64 / FAMILIES as f64;
            println!("{}, {entries} entries: {share:.3}", case.name);
            // Two standard errors of the simulation are 0.01.
            assert!(share <= 0.06, "{}, {entries} entries: {share}", case.name);
        }
    }
}

#[test]
fn an_interval_holds_the_ratio_to_the_best_in_at_least_93_percent() {
    const FAMILIES: usize = 500;
    for case in CASES {
        for entries in [2, 5, 16] {
            let mut rng = Pcg64Mcg::seed_from_u64(2);
            let mut least: f64 = 1.0;
            let contests: Vec<Contest> = (0..FAMILIES)
                .map(|_| case.simulate(entries, &mut rng))
                .collect();
            for i in 0..entries {
                let truth = (case.levels)(i, entries).exp();
                let held = contests.iter().filter(|contest| {
                    let d = contest.distance(i).unwrap();
                    d.lo <= truth + 1e-9 && truth <= d.hi + 1e-9
                });
                least = least.min(held.count() as f64 / FAMILIES as f64);
            }
            println!("{}, {entries} entries: at least {least:.3}", case.name);
            assert!(least >= 0.93, "{}, {entries} entries: {least}", case.name);
        }
    }
}

#[test]
fn a_call_of_level_is_rarely_false() {
    const TRIALS: usize = 10_000;
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let behind = (1.0 - RELEVANT).ln() - 1e-9;
    let level = (0..TRIALS).filter(|_| {
        let mut forks = |level: f64| {
            (0..FORKS)
                .map(|_| level + 0.02 * draw(Tails::Normal, &mut rng))
                .collect()
        };
        places(&[forks(0.0), forks(behind)])[1] == Place::Level
    });
    let share = level.count() as f64 / TRIALS as f64;
    assert!(share <= 0.03, "{share}");
}

/// The share of runs in which the best of these entries is called the best, and its rivals slower.
fn power(behind: f64, spread: f64, forks: usize, others: &[f64]) -> f64 {
    const RUNS: usize = 500;
    let mut rng = Pcg64Mcg::seed_from_u64(4);
    let found = (0..RUNS).filter(|_| {
        let levels = [0.0, (1.0 - behind).ln()]
            .into_iter()
            .chain(others.iter().copied());
        let entries = levels.map(|level| {
            let forks = (0..forks).map(|_| level + spread * draw(Tails::Normal, &mut rng));
            forks.collect()
        });
        places(&entries.collect::<Vec<_>>())[0] == Place::Best
    });
    found.count() as f64 / RUNS as f64
}

#[test]
fn the_power_is_what_the_table_says() {
    let far: Vec<f64> = (0..12).map(|n| -0.7 - 0.3 * f64::from(n)).collect();
    println!("| behind | forks vary by | 5 forks | 10 forks | 20 forks |");
    let mut table = Vec::new();
    for behind in [0.1, 0.2, 0.3] {
        for spread in [0.02, 0.05, 0.1] {
            let row = [5, 10, 20].map(|forks| power(behind, spread, forks, &far));
            println!(
                "| {:.0} % | {:.0} % | {:.2} | {:.2} | {:.2} |",
                behind * 100.0,
                spread * 100.0,
                row[0],
                row[1],
                row[2]
            );
            table.push(row);
        }
    }
    let least = [
        [0.99, 0.99, 0.99],
        [0.60, 0.95, 0.99],
        [0.15, 0.45, 0.80],
        [0.99, 0.99, 0.99],
        [0.99, 0.99, 0.99],
        [0.65, 0.95, 0.99],
        [0.99, 0.99, 0.99],
        [0.99, 0.99, 0.99],
        [0.95, 0.99, 0.99],
    ];
    for (found, least) in table.iter().zip(least) {
        let is_enough = found
            .iter()
            .zip(least)
            .all(|(found, least)| *found >= least);
        assert!(is_enough, "{found:?} against {least:?}");
    }
}
