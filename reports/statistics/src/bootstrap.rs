//! Resampling forks, then rounds: how much a median would vary if the run were repeated.
//!
//! A resample is stored as the number of times each round was drawn. The medians of all resamples are found in one walk
//! over values that were sorted once: for each value, one pass over the counts of its round, which the compiler
//! vectorises. All entries of a scenario share the draws, since their windows share the rounds.
//!
//! Source: Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), chapters 8 (more than one
//! level) and 13 (percentile interval).

use flowmeter_records::hash::fnv1a;
use rand::Rng;
use rand_pcg::Pcg32;

/// Resamples per estimate.
pub const RESAMPLES: usize = 10_000;

/// The resamples of one pass: their counts fit into the nearest cache.
const BLOCK: usize = 1_000;
const _: () = assert!(RESAMPLES.is_multiple_of(BLOCK));

/// Share of resamples that an interval holds.
pub const CONFIDENCE: f64 = 0.95;

/// How often each round was drawn.
pub struct Resamples {
    /// For each round, the times that each resample drew it.
    counts: Vec<Vec<u16>>,
    /// The number of rounds that each resample drew.
    totals: Vec<u16>,
}

impl Resamples {
    /// Draws forks with replacement, then in each as many rounds as it has, with replacement. With one
    /// fork that is resampling rounds. `forks` holds the indices (below `rounds`) of each fork's rounds.
    pub fn draw(forks: &[Vec<usize>], rounds: usize, seed: u64) -> Resamples {
        // The stream is arbitrary; it only has to be the same each time.
        let mut rng = Pcg32::new(seed, 0xF10E);
        // The bias of multiply-and-shift is below n / 2^32.
        let mut below = |n: usize| ((u64::from(rng.next_u32()) * n as u64) >> 32) as usize;
        let mut counts = vec![vec![0_u16; RESAMPLES]; rounds];
        let mut totals = vec![0_u16; RESAMPLES];
        for (resample, total) in totals.iter_mut().enumerate() {
            for _ in forks {
                let fork = &forks[if forks.len() == 1 {
                    0
                } else {
                    below(forks.len())
                }];
                for _ in fork {
                    let count = &mut counts[fork[below(fork.len())]][resample];
                    *count = count.saturating_add(1);
                    *total = total.saturating_add(1);
                }
            }
        }
        Resamples { counts, totals }
    }

    /// The median of every resample; `values` holds (round, value) for each round that can be drawn.
    pub fn medians(&self, values: &[(usize, f64)]) -> Vec<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
        let value = |place: &u16| sorted[usize::from(*place)].1;
        let mut medians = Vec::with_capacity(RESAMPLES);
        for (block, totals) in self.totals.as_chunks::<BLOCK>().0.iter().enumerate() {
            // For each resample: the rounds drawn up to a value, and the places of the two values in its middle.
            let [mut seen, mut low, mut high] = [[0_u16; BLOCK]; 3];
            for (round, _) in &sorted {
                let counts = &self.counts[*round].as_chunks::<BLOCK>().0[block];
                // Saturating throughout: a check for overflow would keep the compiler from vectorising.
                for i in 0..BLOCK {
                    seen[i] = seen[i].saturating_add(counts[i]);
                    let left = totals[i].saturating_sub(seen[i]);
                    low[i] = low[i].saturating_add(u16::from(seen[i] < left));
                    high[i] = high[i].saturating_add(u16::from(seen[i] <= left));
                }
            }
            let middles = low.iter().zip(&high);
            medians.extend(middles.map(|(low, high)| f64::midpoint(value(low), value(high))));
        }
        medians
    }
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
    fn the_median_of_a_resample_is_that_of_the_rounds_it_drew() {
        let forks = vec![vec![0, 1, 2], vec![3, 4]];
        let resamples = Resamples::draw(&forks, 5, 7);
        let values = [4.0, 1.0, 5.0, 2.0, 3.0];
        let numbered: Vec<(usize, f64)> = values.into_iter().enumerate().collect();
        let mut even = 0;
        for (resample, found) in resamples.medians(&numbered).into_iter().enumerate() {
            let times = |round: usize| usize::from(resamples.counts[round][resample]);
            let drawn = (0..5).flat_map(|round| vec![values[round]; times(round)]);
            let drawn: Vec<f64> = drawn.collect();
            even += usize::from(drawn.len().is_multiple_of(2));
            assert_eq!(found, median(&drawn), "{drawn:?}");
        }
        assert!((1..RESAMPLES).contains(&even), "{even} of an even number");
    }

    #[test]
    fn every_resample_draws_as_many_rounds_as_there_are_when_forks_are_alike() {
        let forks = vec![vec![0, 1, 2], vec![3, 4, 5]];
        let resamples = Resamples::draw(&forks, 6, 7);
        assert_eq!(resamples.totals, [6; RESAMPLES]);
        let of_first =
            |resample: &usize| (3..6).all(|round| resamples.counts[round][*resample] == 0);
        let first_fork_alone = (0..RESAMPLES).filter(of_first).count();
        assert!((2200..2800).contains(&first_fork_alone), "a quarter");
    }

    #[test]
    fn an_interval_leaves_a_fortieth_on_each_side() {
        let mut draws: Vec<f64> = (0..10_000).rev().map(f64::from).collect();
        assert_eq!(interval(&mut draws), (249.0, 9750.0));
        assert_eq!(interval(&mut [3.0]), (3.0, 3.0));
    }
}
