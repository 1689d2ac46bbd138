//! Whether the rounds of a cell fall into two groups, each around a value of its own.
//!
//! A median between two modes is a value that hardly any round had, so a cell that has two is shown with both. The
//! sorted logarithms are split where the groups vary least within themselves. Two groups are two modes where the gap
//! between them is many times what they vary by: far more than one distribution has between neighbours. Each has to be
//! seen in several forks, since a process keeps its luck for all of its rounds.
//!
//! Source: Fisher, *On grouping for maximum homogeneity* (1958), for the split; simulation, below, for the gap.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::forks::median;

/// With fewer rounds a gap is chance.
const LEAST_ROUNDS: usize = 10;
/// With fewer forks a mode may be the luck of one or two processes.
const LEAST_FORKS: usize = 3;
/// The least rounds in a group, and their least share; fewer are outliers.
const FEWEST: usize = 3;
const SHARE: f64 = 0.2;
/// The least gap, in standard deviations within the groups.
const GAP: f64 = 5.0;
/// How many times the lower mode the upper one is at least. Less is too small to act on.
const APART: f64 = 1.1;

/// One of two modes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Median of its rounds.
    pub median: f64,
    /// How many rounds it has.
    pub rounds: usize,
}

/// The two modes of these values, the lower one first, if they have two. Each value comes with its fork.
pub fn modes(values: &[(usize, f64)]) -> Option<[Mode; 2]> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(|(_, a), (_, b)| a.total_cmp(b));
    let (forks, values): (Vec<usize>, Vec<f64>) = sorted.into_iter().unzip();
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let n = logs.len();
    if n < LEAST_ROUNDS {
        return None;
    }
    let fewest = FEWEST.max((SHARE * n as f64).ceil() as usize);
    let within = |at: usize| squares(&logs[..at]) + squares(&logs[at..]);
    let splits = fewest..=n - fewest;
    let at = splits.min_by(|&a, &b| within(a).total_cmp(&within(b)))?;
    let deviation = (within(at) / (n - 2) as f64).sqrt();
    let groups = [&values[..at], &values[at..]];
    let modes = groups.map(|group| Mode {
        median: median(group),
        rounds: group.len(),
    });
    let are_of_forks = [&forks[..at], &forks[at..]].map(|group| {
        let distinct: BTreeSet<usize> = group.iter().copied().collect();
        distinct.len() >= LEAST_FORKS
    });
    if are_of_forks.contains(&false) {
        return None;
    }
    let is_far = logs[at] - logs[at - 1] >= GAP * deviation;
    (is_far && modes[1].median >= APART * modes[0].median).then_some(modes)
}

/// The sum of squared distances from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::simulated::{Tails, draw};

    /// Each value as a round of one of five forks in turn.
    fn modes_of(values: &[f64]) -> Option<[Mode; 2]> {
        let rounds: Vec<_> = (0..)
            .map(|round| round % 5)
            .zip(values.iter().copied())
            .collect();
        modes(&rounds)
    }

    #[test]
    fn two_modes_are_found_and_counted() {
        let mut values = vec![1.0, 1.01, 0.99, 1.02, 1.0, 0.98, 1.01];
        values.extend([1.4, 1.41, 1.39]);
        let [low, high] = modes_of(&values).expect("they are apart");
        assert_eq!((low.rounds, high.rounds), (7, 3));
        assert_eq!((low.median, high.median), (1.0, 1.4));
    }

    #[test]
    fn outliers_small_steps_and_the_luck_of_two_processes_are_no_modes() {
        let [one, step, nine] = [1.0, 1.05, 9.0].map(|value| move |n| vec![value; n]);
        assert_eq!(modes_of(&[one(9), nine(1)].concat()), None);
        assert_eq!(modes_of(&[one(5), step(5)].concat()), None);
        assert_eq!(
            modes_of(&[one(3), nine(3)].concat()),
            None,
            "too few rounds"
        );
        let of_forks = |fast: usize| -> Vec<(usize, f64)> {
            let rounds = (0..30).map(|round| round / 5);
            rounds
                .map(|fork| (fork, if fork < fast { 9.0 } else { 1.0 }))
                .collect()
        };
        assert_eq!(modes(&of_forks(2)), None);
        assert!(modes(&of_forks(3)).is_some());
    }

    #[test]
    fn one_distribution_in_fifty_seems_to_have_two_modes() {
        const TRIALS: usize = 300;
        for (forks, rounds) in [(5, 2), (5, 6), (10, 6)] {
            for tails in [Tails::Normal, Tails::Heavy, Tails::Stalls] {
                // Rounds of a fork vary less than forks, or as much.
                for within in [0.01, 0.1] {
                    let mut rng = Pcg64Mcg::seed_from_u64(9);
                    let found = (0..TRIALS).filter(|_| {
                        let mut values = Vec::new();
                        for fork in 0..forks {
                            let luck = 0.1 * draw(tails, &mut rng);
                            let round = |_| (fork, (luck + within * draw(tails, &mut rng)).exp());
                            values.extend((0..rounds).map(round));
                        }
                        modes(&values).is_some()
                    });
                    let share = found.count() as f64 / TRIALS as f64;
                    assert!(
                        share <= 0.02,
                        "{tails:?}, {forks}, {rounds}, {within}: {share}"
                    );
                }
            }
        }
    }

    #[test]
    fn modes_that_are_twelve_deviations_apart_are_found() {
        const TRIALS: usize = 200;
        let mut rng = Pcg64Mcg::seed_from_u64(10);
        let found = (0..TRIALS).filter(|_| {
            let values = (0..30).map(|_| {
                let mode = if rng.random_bool(0.5) { 0.36 } else { 0.0 };
                (mode + 0.03 * draw(Tails::Normal, &mut rng)).exp()
            });
            modes_of(&values.collect::<Vec<_>>()).is_some()
        });
        let share = found.count() as f64 / TRIALS as f64;
        assert!(share >= 0.9, "{share}");
    }
}
