//! How evenly threads or tasks of one side got their turns.

/// Jain's index of these shares: the square of their sum, over their number times the sum of their squares. It is 1
/// where there is nothing to share.
///
/// Source: Jain, Chiu and Hawe, "A Quantitative Measure of Fairness and Discrimination", 1984.
pub fn jain(shares: impl Iterator<Item = f64>) -> f64 {
    let (count, sum, squares) = shares.fold((0.0, 0.0, 0.0), |(count, sum, squares), share| {
        (count + 1.0, sum + share, squares + share * share)
    });
    if squares > 0.0 {
        sum * sum / (count * squares)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::jain;

    #[test]
    fn even_is_one_and_one_of_four_a_quarter() {
        assert_eq!(jain([5.0, 5.0, 5.0, 5.0].into_iter()), 1.0);
        assert_eq!(jain([0.0, 8.0, 0.0, 0.0].into_iter()), 0.25);
        assert_eq!(jain([0.0, 0.0].into_iter()), 1.0);
        assert_eq!(jain([3.0, 1.0].into_iter()), 0.8);
    }
}
