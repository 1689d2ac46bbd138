//! An axis for plotters with its own ticks: categories, a linear range from zero, or decades.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// The limits of an axis. No measurement lies beyond them, but a record may contain such a value, and arithmetic near
/// the ends of floating point gives no ticks.
const REACH: (f64, f64) = (1e-300, 1e300);

/// The most decades with a tick each.
const DECADES: usize = 20;

/// A range with ticks of our choice, not the library's.
#[derive(Clone, Debug)]
pub struct Axis {
    lo: f64,
    hi: f64,
    logarithmic: bool,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Categories at 0, 1, 2, …, with half a place of margin at both ends.
    pub fn categories(labels: Vec<String>) -> Axis {
        Axis {
            lo: -0.5,
            hi: labels.len() as f64 - 0.5,
            logarithmic: false,
            ticks: (0..).map(f64::from).zip(labels).collect(),
        }
    }

    /// A range with those ticks.
    pub fn marked(lo: f64, hi: f64, ticks: Vec<(f64, String)>) -> Axis {
        Axis {
            lo,
            hi,
            logarithmic: false,
            ticks,
        }
    }

    /// Decades of 1/(1-p) from p0, at least to p90: the axis of HdrHistogram's plots.
    pub fn percentiles(quantile: f64) -> Axis {
        let last = (-(1.0 - quantile).log10()).max(1.0);
        let names = [
            "0 %",
            "50 %",
            "90 %",
            "99 %",
            "99.9 %",
            "99.99 %",
            "99.999 %",
            "99.9999 %",
        ];
        let places = [0.0, 2_f64.log10(), 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let ticks = places.into_iter().zip(names.map(str::to_owned));
        Axis {
            lo: 0.0,
            hi: last,
            logarithmic: false,
            ticks: ticks.filter(|(place, _)| *place <= last + 1e-9).collect(),
        }
    }

    /// Values: from zero, or in decades if they span too much for that.
    pub fn values(lo: f64, hi: f64, label: impl Fn(f64) -> String) -> Axis {
        if lo > 0.0 && hi / lo > 25.0 {
            Axis::decades(lo, hi, label)
        } else {
            Axis::from_zero(hi, label)
        }
    }

    /// From zero to a round number at or above `hi`.
    pub fn from_zero(hi: f64, label: impl Fn(f64) -> String) -> Axis {
        let hi = if hi > 0.0 {
            hi.clamp(REACH.0, REACH.1)
        } else {
            1.0
        };
        let rough = hi / 4.0;
        let size = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|m| m * size)
            .find(|step| *step >= rough * 0.999)
            .unwrap_or(10.0 * size);
        let count = (hi / step - 1e-9).ceil().max(1.0) as u32;
        Axis {
            lo: 0.0,
            hi: step * f64::from(count),
            logarithmic: false,
            ticks: (0..=count)
                .map(|i| (step * f64::from(i), label(step * f64::from(i))))
                .collect(),
        }
    }

    /// In decades, with 2 and 5 between them if there are few, and more if there is hardly one.
    pub fn decades(lo: f64, hi: f64, label: impl Fn(f64) -> String) -> Axis {
        let lo = lo.clamp(REACH.0, REACH.1) / 1.15;
        let hi = hi.clamp(REACH.0, REACH.1) * 1.15;
        let steps: &[f64] = match hi / lo {
            span if span < 5.0 => &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            span if span < 1000.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let decades = lo.log10().floor() as i32..=hi.log10().ceil() as i32;
        let every = decades.clone().count() / DECADES + 1;
        let ticks = decades
            .step_by(every)
            .flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)))
            .filter(|tick| (lo..=hi).contains(tick))
            .map(|tick| (tick, label(tick)))
            .collect();
        Axis {
            lo,
            hi,
            logarithmic: true,
            ticks,
        }
    }

    /// The position of a value between the ends, 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            // A difference of logarithms: the quotients may overflow.
            (value.ln() - self.lo.ln()) / (self.hi.ln() - self.lo.ln())
        } else {
            (value - self.lo) / (self.hi - self.lo)
        };
        share.clamp(0.0, 1.0)
    }

    /// Length of the longest label, characters.
    pub fn longest_label(&self) -> usize {
        let lengths = self.ticks.iter().map(|(_, label)| label.chars().count());
        lengths.max().unwrap_or(0)
    }

    /// The ends.
    pub fn ends(&self) -> (f64, f64) {
        (self.lo, self.hi)
    }

    /// Whether it is in decades.
    pub fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (f64::from(to - from) * self.share(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.iter().map(|(tick, _)| *tick).collect()
    }

    fn range(&self) -> Range<f64> {
        self.lo..self.hi
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|(tick, _)| tick == value);
        tick.map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| &**label).collect()
    }

    #[test]
    fn values_of_one_size_start_at_zero() {
        let axis = Axis::values(3.0, 17.0, |v| v.to_string());
        assert_eq!(labels(&axis), ["0", "5", "10", "15", "20"]);
        assert_eq!(axis.share(10.0), 0.5);
    }

    #[test]
    fn values_of_many_sizes_stand_in_decades() {
        let axis = Axis::values(0.9, 1100.0, |v| v.to_string());
        assert_eq!(labels(&axis), ["1", "10", "100", "1000"]);
    }

    #[test]
    fn less_than_a_decade_has_ticks_to_read_it_by() {
        let axis = Axis::decades(0.65, 1.0, |v| format!("{v:.2}"));
        assert_eq!(labels(&axis), ["0.60", "0.70", "0.80", "0.90", "1.00"]);
    }

    #[test]
    fn any_finite_numbers_have_an_axis_with_few_ticks() {
        let odd = [5e-324, f64::MIN_POSITIVE, 1.0, 1e300, f64::MAX];
        for (n, lo) in odd.into_iter().enumerate() {
            for hi in odd.into_iter().skip(n).chain([f64::INFINITY]) {
                for axis in [
                    Axis::values(lo, hi, |v| v.to_string()),
                    Axis::from_zero(hi, |v| v.to_string()),
                    Axis::decades(lo, hi, |v| v.to_string()),
                ] {
                    assert!(axis.lo < axis.hi && axis.hi.is_finite(), "{lo}, {hi}");
                    assert!(axis.ticks.len() < 100, "{lo}, {hi}");
                    assert!(axis.ticks.iter().all(|(tick, _)| tick.is_finite()));
                    let ends = [lo, hi].map(|end| axis.share(end));
                    assert!(ends[0] <= ends[1] && ends[1] <= 1.0, "{lo}, {hi}: {ends:?}");
                }
            }
        }
    }

    #[test]
    fn percentiles_stand_in_decades_of_what_is_above() {
        let axis = Axis::percentiles(0.999);
        assert_eq!(labels(&axis), ["0 %", "50 %", "90 %", "99 %", "99.9 %"]);
        assert!((axis.share(-(1.0_f64 - 0.99).log10()) - 2.0 / 3.0).abs() < 1e-9);
    }
}
