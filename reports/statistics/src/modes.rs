//! Whether the rounds of a cell fall into two groups, each around a value of its own.
//!
//! A median between two modes is a value that hardly any round had, so a cell that has two is shown with both. The
//! sorted logarithms are split where the groups vary least within themselves. Two groups are two modes where the gap
//! between them is many times what they vary by: far more than one distribution has between neighbours.
//!
//! Source: Fisher, *On grouping for maximum homogeneity* (1958), for the split; simulation, below, for the gap.

use serde::{Deserialize, Serialize};

use super::forks::median;

/// With fewer rounds a gap is chance.
const ROUNDS: usize = 10;
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

/// The two modes of these values, the lower one first, if they have two.
pub fn modes(values: &[f64]) -> Option<[Mode; 2]> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let n = logs.len();
    if n < ROUNDS {
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

    #[test]
    fn two_modes_are_found_and_counted() {
        let mut values = vec![1.0, 1.01, 0.99, 1.02, 1.0, 0.98, 1.01];
        values.extend([1.4, 1.41, 1.39]);
        let [low, high] = modes(&values).expect("they are apart");
        assert_eq!((low.rounds, high.rounds), (7, 3));
        assert_eq!((low.median, high.median), (1.0, 1.4));
    }

    #[test]
    fn an_outlier_is_no_mode_and_a_small_step_is_none() {
        assert_eq!(
            modes(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0]),
            None
        );
        assert_eq!(
            modes(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.05, 1.05, 1.05, 1.05, 1.05]),
            None
        );
        assert_eq!(
            modes(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]),
            None,
            "too few rounds"
        );
    }

    #[test]
    fn one_distribution_in_a_hundred_seems_to_have_two_modes() {
        const TRIALS: usize = 1_000;
        for rounds in [10, 30] {
            for tails in [Tails::Normal, Tails::Heavy, Tails::Stalls] {
                let mut rng = Pcg64Mcg::seed_from_u64(9);
                let found = (0..TRIALS).filter(|_| {
                    let values = (0..rounds).map(|_| (0.2 * draw(tails, &mut rng)).exp());
                    modes(&values.collect::<Vec<_>>()).is_some()
                });
                let share = found.count() as f64 / TRIALS as f64;
                assert!(share <= 0.02, "{tails:?}, {rounds} rounds: {share}");
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
            modes(&values.collect::<Vec<_>>()).is_some()
        });
        let share = found.count() as f64 / TRIALS as f64;
        assert!(share >= 0.9, "{share}");
    }
}
