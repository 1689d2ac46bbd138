//! Resampling forks, then rounds: how much a median would vary if the run were repeated.
//!
//! A resample is stored as the number of times each round was drawn. Its median is found by walking
//! values that were sorted once, so ten thousand resamples of a cell take less than a millisecond. All
//! entries of a scenario share the draws, since their windows share the rounds.
//!
//! Source: Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), chapters 8 (more than one
//! level) and 13 (percentile interval).

use flowmeter_harness::hash::fnv1a;
use rand::Rng;
use rand_pcg::Pcg32;

/// Resamples per estimate.
pub const RESAMPLES: usize = 10_000;

/// Share of resamples that an interval holds.
pub const CONFIDENCE: f64 = 0.95;

/// Times each round was drawn, per resample.
pub struct Resamples {
    rounds: usize,
    counts: Vec<u16>,
}

impl Resamples {
    /// Draws forks with replacement, then in each as many rounds as it has, with replacement. With one
    /// fork that is resampling rounds. `forks` holds the indices (below `rounds`) of each fork's rounds.
    pub fn draw(forks: &[Vec<usize>], rounds: usize, seed: u64) -> Resamples {
        // The stream is arbitrary; it only has to be the same each time.
        let mut rng = Pcg32::new(seed, 0xF10E);
        // The bias of multiply-and-shift is below n / 2^32.
        let mut below = |n: usize| ((u64::from(rng.next_u32()) * n as u64) >> 32) as usize;
        let mut counts = vec![0_u16; RESAMPLES * rounds];
        for counts in counts.chunks_exact_mut(rounds.max(1)) {
            for _ in forks {
                let fork = &forks[if forks.len() == 1 {
                    0
                } else {
                    below(forks.len())
                }];
                for _ in fork {
                    let round = fork[below(fork.len())];
                    counts[round] = counts[round].saturating_add(1);
                }
            }
        }
        Resamples { rounds, counts }
    }

    /// The median of every resample; `values` holds (round, value) for each round that can be drawn.
    pub fn medians(&self, values: &[(usize, f64)]) -> Vec<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
        self.counts
            .chunks_exact(self.rounds.max(1))
            .map(|counts| weighted_median(&sorted, counts))
            .collect()
    }
}

/// Median of sorted values, each present as often as its round was drawn.
fn weighted_median(sorted: &[(usize, f64)], counts: &[u16]) -> f64 {
    let total: u32 = counts.iter().map(|&n| u32::from(n)).sum();
    let (low, high) = ((total.max(1) - 1) / 2, total / 2);
    let mut seen = 0;
    let mut below = None;
    for &(round, value) in sorted {
        seen += u32::from(counts[round]);
        if below.is_none() && seen > low {
            below = Some(value);
        }
        if seen > high {
            return below.map_or(value, |below| f64::midpoint(below, value));
        }
    }
    unreachable!("a resample holds only rounds that have a value")
}

/// Median; the mean of the middle two of an even number. `NaN` of nothing.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => f64::NAN,
        (n, middle) if n % 2 == 1 => sorted[middle],
        (_, middle) => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Percentile interval of bootstrap draws. Reorders the draws.
pub fn interval(draws: &mut [f64]) -> (f64, f64) {
    let last = draws.len() - 1;
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let (low, high) = (
        (tail * last as f64).floor() as usize,
        ((1.0 - tail) * last as f64).ceil() as usize,
    );
    let hi = *draws.select_nth_unstable_by(high, f64::total_cmp).1;
    let lo = *draws[..high.max(1)]
        .select_nth_unstable_by(low, f64::total_cmp)
        .1;
    (lo, hi)
}

/// A seed of its own for each scenario, so that scenarios are resampled
/// independently of each other and of the order in which they are listed.
pub fn seed_of(scenario: &str, salt: &[bool]) -> u64 {
    let name = scenario.bytes();
    let salt = salt.iter().map(|&b| u8::from(b));
    fnv1a(name.chain(salt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_weighted_median_is_the_median_of_the_expanded_sample() {
        let sorted = [(2, 1.0), (0, 5.0), (1, 7.0)];
        assert_eq!(weighted_median(&sorted, &[1, 1, 1]), 5.0);
        assert_eq!(weighted_median(&sorted, &[0, 2, 2]), 4.0);
        assert_eq!(weighted_median(&sorted, &[0, 3, 1]), 7.0);
        assert_eq!(weighted_median(&sorted, &[0, 0, 4]), 1.0);
    }

    #[test]
    fn every_resample_draws_as_many_rounds_as_there_are_when_forks_are_alike() {
        let forks = vec![vec![0, 1, 2], vec![3, 4, 5]];
        let resamples = Resamples::draw(&forks, 6, 7);
        let sums: Vec<u32> = resamples
            .counts
            .chunks_exact(6)
            .map(|c| c.iter().map(|&n| u32::from(n)).sum())
            .collect();
        assert_eq!(sums.len(), RESAMPLES);
        assert!(sums.iter().all(|&s| s == 6));
        let first_fork_alone = resamples
            .counts
            .chunks_exact(6)
            .filter(|c| c[3..].iter().all(|&n| n == 0))
            .count();
        assert!((2200..2800).contains(&first_fork_alone), "a quarter");
    }

    #[test]
    fn an_interval_leaves_a_fortieth_on_each_side() {
        let mut draws: Vec<f64> = (0..10_000).rev().map(f64::from).collect();
        assert_eq!(interval(&mut draws), (249.0, 9750.0));
        assert_eq!(interval(&mut [3.0]), (3.0, 3.0));
    }
}
