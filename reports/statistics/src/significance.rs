//! Many tests at one rate of error.
//!
//! Source: Benjamini and Hochberg, *Controlling the false discovery rate* (1995); Holm, *A simple sequentially
//! rejective multiple test procedure* (1979).

/// Accepted share of false discoveries.
pub const FALSE_DISCOVERIES: f64 = 0.05;

/// Which of the hypotheses with these p-values are rejected at [`FALSE_DISCOVERIES`].
pub fn discoveries(p_values: &[f64]) -> Vec<bool> {
    let mut sorted: Vec<f64> = p_values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let m = sorted.len() as f64;
    let threshold = sorted
        .iter()
        .enumerate()
        .rev()
        .find(|&(i, &p)| p <= (i + 1) as f64 / m * FALSE_DISCOVERIES)
        .map(|(_, &p)| p);
    p_values
        .iter()
        .map(|&p| threshold.is_some_and(|threshold| p <= threshold))
        .collect()
}

/// The p-values corrected for their number. Rejecting those of at most 0.05 rejects a true hypothesis in at most 5 % of
/// all families, however the tests depend on each other.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_unstable_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut corrected = vec![1.0; p_values.len()];
    let mut most: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        most = most.max((p_values[index] * left).min(1.0));
        corrected[index] = most;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_multiplies_the_smallest_by_all_and_the_next_by_one_fewer() {
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        assert!(
            close(&corrected, &[0.03, 0.06, 0.06, 0.02]),
            "{corrected:?}"
        );
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn the_papers_example_rejects_the_four_smallest_of_fifteen() {
        // Benjamini and Hochberg 1995, section 4.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let found = discoveries(&p);
        assert_eq!(found.iter().filter(|&&d| d).count(), 4);
        assert!(found[..4].iter().all(|&d| d));
    }

    #[test]
    fn a_later_small_value_carries_the_earlier_ones() {
        assert_eq!(discoveries(&[0.04, 0.045, 0.03]), [true, true, true]);
        assert_eq!(discoveries(&[0.04, 0.9, 0.03]), [false, false, false]);
    }

    #[test]
    fn nothing_is_found_among_nothing() {
        assert!(discoveries(&[]).is_empty());
    }
}
