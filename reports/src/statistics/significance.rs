//! When a difference may be called one: many comparisons, one false discovery rate.
//!
//! Source: Benjamini and Hochberg, *Controlling the false discovery rate* (1995).

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

#[cfg(test)]
mod tests {
    use super::*;

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
