//! One value for each fork, and what a handful of such values is worth: a mean with a t interval and a t test.
//!
//! A process keeps its memory layout and its placement on the cores for all of its rounds. So the rounds of one fork
//! are not independent, and the certainty of a difference depends on the number of forks. Resampling rounds more often
//! does not change that. A t statistic on one value for each fork accounts for it.
//!
//! Source: Satterthwaite, *An approximate distribution of estimates of variance components* (1946); Abramowitz and
//! Stegun, *Handbook of Mathematical Functions* (1964), 26.7.3 and 26.7.4 (the t distribution).

/// How often an interval holds the true value, as a share.
pub const CONFIDENCE: f64 = 0.95;

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

/// Per-round differences, where both have a value. Both are in the order of rounds.
pub fn differences(a: &[(usize, f64)], b: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let mut rest = b.iter().copied().peekable();
    let both = a.iter().filter_map(|&(round, x)| {
        while rest.next_if(|&(other, _)| other < round).is_some() {}
        let (_, y) = rest.next_if(|&(other, _)| other == round)?;
        Some((round, x - y))
    });
    both.collect()
}

/// The median of each fork's values; a fork without any is left out. `forks` holds the rounds of each,
/// `values` (round, value) in the order of rounds.
pub fn fork_medians(forks: &[Vec<usize>], values: &[(usize, f64)]) -> Vec<f64> {
    let at = |round: &usize| values.binary_search_by_key(round, |&(round, _)| round).ok();
    forks
        .iter()
        .map(|fork| -> Vec<f64> {
            let places = fork.iter().filter_map(at);
            places.map(|place| values[place].1).collect()
        })
        .filter(|values| !values.is_empty())
        .map(|values| median(&values))
        .collect()
}

/// A sum of means, with its uncertainty.
#[derive(Clone, Copy, Debug)]
pub struct Statistic {
    /// The sum.
    pub sum: f64,
    /// The square of its standard error.
    pub variance: f64,
    /// The degrees of freedom of the variance.
    freedom: f64,
}

impl Statistic {
    /// The statistic of several scenarios' logarithms, each measured in some forks. It has forks - 1 degrees of
    /// freedom for one scenario, and those of Welch and Satterthwaite for more. `None` if one scenario has fewer than
    /// two forks, since the variance between forks is then unknown.
    pub fn of(scenarios: &[Vec<f64>]) -> Option<Statistic> {
        if scenarios.is_empty() || scenarios.iter().any(|forks| forks.len() < 2) {
            return None;
        }
        let parts = scenarios.iter().map(|forks| {
            let n = forks.len() as f64;
            let mean = forks.iter().sum::<f64>() / n;
            let squares: f64 = forks.iter().map(|x| (x - mean).powi(2)).sum();
            Statistic {
                sum: mean,
                variance: squares / (n - 1.0) / n,
                freedom: n - 1.0,
            }
        });
        parts.reduce(Statistic::and)
    }

    /// The sum of two independent statistics.
    fn and(self, other: Statistic) -> Statistic {
        let variance = self.variance + other.variance;
        let share = |of: Statistic| of.variance * of.variance / of.freedom;
        let shares = share(self) + share(other);
        Statistic {
            sum: self.sum + other.sum,
            variance,
            freedom: if shares == 0.0 {
                1.0
            } else {
                variance * variance / shares
            },
        }
    }

    /// The same with a further source of variance, of so many degrees of freedom.
    pub fn moved_by(self, variance: f64, freedom: usize) -> Statistic {
        self.and(Statistic {
            sum: 0.0,
            variance,
            freedom: freedom as f64,
        })
    }

    /// How far it is from 0, in standard errors.
    pub fn t(self) -> f64 {
        if self.sum == 0.0 {
            return 0.0;
        }
        self.sum / self.variance.sqrt()
    }

    /// Two-sided p-value, with standard errors multiplied by `wider`.
    pub fn p(self, wider: f64) -> f64 {
        t_two_sided(self.t() / wider, self.whole_freedom())
    }

    /// One-sided p-value of "the true sum is not above 0".
    pub fn p_not_above(self) -> f64 {
        let half = self.p(1.0) / 2.0;
        if self.sum > 0.0 { half } else { 1.0 - half }
    }

    /// The mean of so many scenarios, where this is their sum.
    pub fn mean_of(self, scenarios: usize) -> Statistic {
        let n = scenarios as f64;
        Statistic {
            sum: self.sum / n,
            variance: self.variance / (n * n),
            freedom: self.freedom,
        }
    }

    /// The same seen from the other side.
    pub fn negated(self) -> Statistic {
        Statistic {
            sum: -self.sum,
            ..self
        }
    }

    /// The t interval that holds the true sum with that probability.
    pub fn interval(self, confidence: f64) -> (f64, f64) {
        let half = t_quantile(1.0 - confidence, self.whole_freedom()) * self.variance.sqrt();
        (self.sum - half, self.sum + half)
    }

    fn whole_freedom(self) -> u32 {
        // Rounded down, which gives the wider distribution.
        (self.freedom + 1e-9).floor().clamp(1.0, 1e4) as u32
    }
}

/// Probability that a t with so many degrees of freedom is at least that far from 0.
fn t_two_sided(t: f64, freedom: u32) -> f64 {
    let angle = (t.abs() / f64::from(freedom).sqrt()).atan();
    let (sin, cos) = angle.sin_cos();
    // Terms cos^k times (1 3 5 ...)/(2 4 6 ...), or the inverse of its like, up to the degrees of freedom.
    let first = freedom % 2;
    let (mut term, mut sum) = (if first == 0 { 1.0 } else { cos }, 0.0);
    for k in (first..freedom - 1).step_by(2) {
        sum += term;
        term *= cos * cos * f64::from(k + 1) / f64::from(k + 2);
    }
    let within = if first == 0 {
        sin * sum
    } else {
        std::f64::consts::FRAC_2_PI * (angle + sin * sum)
    };
    (1.0 - within).clamp(0.0, 1.0)
}

/// How far from 0 a t with so many degrees of freedom is with probability `p`.
fn t_quantile(p: f64, freedom: u32) -> f64 {
    let (mut near, mut far) = (0.0, 1.0);
    while t_two_sided(far, freedom) > p && far < 1e9 {
        far *= 2.0;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(near, far);
        match t_two_sided(middle, freedom) > p {
            true => near = middle,
            false => far = middle,
        }
    }
    far
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p_value(scenarios: &[Vec<f64>]) -> f64 {
        Statistic::of(scenarios).expect("two forks each").p(1.0)
    }

    #[test]
    fn a_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn differences_are_of_rounds_that_both_have() {
        let (a, b) = (
            [(0, 5.0), (2, 7.0), (3, 1.0)],
            [(1, 9.0), (2, 4.0), (3, 3.0)],
        );
        assert_eq!(differences(&a, &b), [(2, 3.0), (3, -2.0)]);
        assert_eq!(differences(&b, &a), [(2, -3.0), (3, 2.0)]);
        assert!(differences(&a, &[]).is_empty());
    }

    #[test]
    fn a_t_beyond_its_tabled_quantile_has_five_percent() {
        // Two-sided 5 % points, from the tables of Abramowitz and Stegun (26.10).
        for (freedom, t) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (9, 2.262),
            (30, 2.042),
        ] {
            let p = t_two_sided(t, freedom);
            assert!((p - 0.05).abs() < 1e-4, "{freedom}: {p}");
        }
        assert_eq!(t_two_sided(0.0, 4), 1.0);
    }

    #[test]
    fn a_quantile_is_where_its_probability_is() {
        // The tables of Abramowitz and Stegun, 26.10.
        for (p, freedom, t) in [(0.05, 4, 2.776), (0.1, 9, 1.833), (0.01, 11, 3.106)] {
            let found = t_quantile(p, freedom);
            assert!((found - t).abs() < 1e-3, "{p}, {freedom}: {found}");
        }
    }

    #[test]
    fn five_forks_that_scatter_say_less_than_five_that_agree() {
        let scattered = p_value(&[vec![-0.3, -0.1, 0.1, -0.2, 0.0]]);
        let agreeing = p_value(&[vec![-0.11, -0.09, -0.1, -0.105, -0.095]]);
        assert!(scattered > 0.2, "{scattered}");
        assert!(agreeing < 1e-4, "{agreeing}");
    }

    #[test]
    fn one_fork_says_nothing() {
        let is_silent = |scenarios: &[Vec<f64>]| Statistic::of(scenarios).is_none();
        assert!(is_silent(&[vec![-0.5]]) && is_silent(&[]));
        assert!(is_silent(&[vec![-0.5, -0.5], vec![-0.5]]));
    }

    #[test]
    fn scenarios_that_agree_are_worth_more_than_one() {
        let forks = vec![-0.03, -0.01, -0.02, 0.0, -0.015];
        assert!(p_value(&vec![forks.clone(); 6]) < p_value(&[forks]) / 10.0);
    }

    #[test]
    fn a_fork_stands_for_its_rounds_by_its_median() {
        let forks = [vec![0, 1, 2], vec![3, 4], vec![5]];
        let values = [(0, 1.0), (1, 9.0), (2, 2.0), (4, 7.0)];
        assert_eq!(fork_medians(&forks, &values), [2.0, 7.0]);
    }
}
