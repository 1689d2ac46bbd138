//! What the placebos say about a run. A placebo is the same code entered twice, so its 95 % interval excludes 1 once in
//! twenty by chance. More than chance explains means that something other than the code decides the numbers.

use super::estimates::Twin;
use super::forks::CONFIDENCE;

/// A run is unhealthy where chance gives so many placebos that exclude 1 with at most this probability.
const ALARM: f64 = 0.01;

/// The placebos of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// How many there are.
    pub placebos: usize,
    /// How many have an interval that excludes 1.
    pub excluding: usize,
}

impl Health {
    /// Of those that were timed in forks enough for a test.
    pub fn of(placebos: &[Twin]) -> Health {
        let tested = || placebos.iter().filter(|twin| twin.tested);
        Health {
            placebos: tested().count(),
            excluding: tested().filter(|twin| !twin.holds_one()).count(),
        }
    }

    /// Whether chance explains how many exclude 1. A run without placebos is not known to be unhealthy.
    pub fn is_sound(self) -> bool {
        self.chance() > ALARM
    }

    /// The probability of as many or more by chance: the upper tail of the binomial distribution.
    fn chance(self) -> f64 {
        let p = 1.0 - CONFIDENCE;
        let n = self.placebos;
        let mut term = CONFIDENCE.powi(n as i32);
        let mut below = 0.0;
        for k in 0..self.excluding {
            below += term;
            term *= (n - k) as f64 / (k + 1) as f64 * p / CONFIDENCE;
        }
        1.0 - below
    }

    /// In a sentence: how many exclude 1, and what that means.
    pub fn sentence(self) -> String {
        let count = match self.placebos {
            0 => {
                return "no placebo was timed in three forks, so the health of the run is unknown"
                    .to_owned();
            }
            1 => format!("{} of 1 placebo excludes 1", self.excluding),
            n => format!("{} of {n} placebos exclude 1", self.excluding),
        };
        match self.is_sound() {
            true => count,
            false => format!(
                "unhealthy run: {count}, where chance explains one in twenty; the same code differed from itself, so \
                 its verdicts are not to be trusted"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(excluding: usize, placebos: usize) -> Health {
        Health {
            placebos,
            excluding,
        }
    }

    #[test]
    fn one_in_twenty_is_chance_and_one_in_five_is_not() {
        assert!(health(0, 0).is_sound() && health(3, 50).is_sound() && health(1, 1).is_sound());
        assert!(health(2, 4).is_sound() && !health(3, 4).is_sound());
        // By the binomial distribution of 50 and 0.05: 0.0118 for 7 or more, 0.0032 for 8 or more.
        assert!((health(7, 50).chance() - 0.0118).abs() < 1e-4);
        assert!(health(7, 50).is_sound() && !health(8, 50).is_sound());
    }

    #[test]
    fn a_placebo_of_too_few_forks_does_not_count() {
        let twin = |tested| Twin {
            scenario: String::new(),
            implementation: String::new(),
            rounds: 1,
            ratio: 0.9,
            lo: 0.9,
            hi: 0.9,
            half_width: 0.0,
            tested,
        };
        let health = Health::of(&[twin(false), twin(false), twin(true)]);
        assert_eq!((health.placebos, health.excluding), (1, 1));
    }

    #[test]
    fn a_run_without_placebos_says_so() {
        assert!(health(0, 0).sentence().contains("unknown"));
        assert_eq!(health(2, 51).sentence(), "2 of 51 placebos exclude 1");
        assert!(
            health(9, 51)
                .sentence()
                .starts_with("unhealthy run: 9 of 51")
        );
    }
}
