//! The quality of the windows of an open loop: whether the rate was kept, and whether the numbers show the
//! lateness of the implementation or of the generator.
//!
//! A disturbed window keeps its value: leaving it out would favour the implementation that ran in it. The
//! number of disturbed windows, over all rounds, decides whether the cell has a number at all. So one stall
//! of the machine costs no implementation its cell.

use flowmeter_records::Window;

use super::forks::median;

/// Share of a cell's windows that may fall short of their rate: above it the rate cannot be sustained.
const DISTURBED: f64 = 0.2;

/// The generator's own p99 as a share of the response's p99: above this the generator was measured.
const GENERATOR: f64 = 0.5;

/// How well a cell's windows kept their rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How many there are.
    pub windows: usize,
    /// How many fell short of the rate.
    pub disturbed: usize,
    /// Whether the generator's lateness is most of the response: the true value is at most the measured one.
    pub generator_limited: bool,
}

impl Pace {
    /// From these windows. The value of a window that records its generator is the response's p99.
    pub fn of<'a>(windows: impl Iterator<Item = &'a Window>) -> Pace {
        let (mut all, mut disturbed, mut shares) = (0, 0, Vec::new());
        for window in windows {
            all += 1;
            disturbed += usize::from(window.unsustained.is_some());
            let generator = window.generator_p99_nanos;
            shares.extend(generator.map(|nanos| nanos as f64 / window.value));
        }
        Pace {
            windows: all,
            disturbed,
            generator_limited: !shares.is_empty() && median(&shares) > GENERATOR,
        }
    }

    /// Whether the rate was kept in enough of them for a number.
    pub fn sustained(&self) -> bool {
        self.disturbed as f64 <= self.windows as f64 * DISTURBED
    }
}
