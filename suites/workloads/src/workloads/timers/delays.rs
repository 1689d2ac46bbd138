//! How long timers are armed for.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

const MICRO: u64 = 1_000;
const MILLI: u64 = 1_000 * MICRO;
const SECOND: u64 = 1_000 * MILLI;
const HOUR: u64 = 3_600 * SECOND;

/// A distribution of delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delays {
    /// 20 ms each: a server with one timeout for all requests.
    Fixed,
    /// From 100 us to 40 ms, uniformly.
    Uniform,
    /// From 100 us to an hour, each order of magnitude equally likely.
    LogUniform,
    /// Half of them one or two milliseconds, half of them a minute or two: retries and idle connections.
    TwoHumped,
}

impl Delays {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Delays::Fixed => "fixed",
            Delays::Uniform => "uniform",
            Delays::LogUniform => "log-uniform",
            Delays::TwoHumped => "two-humped",
        }
    }

    /// A sequence of draws, in nanoseconds.
    pub(super) fn draw(self, seed: u64) -> impl FnMut() -> u64 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        move || match self {
            Delays::Fixed => 20 * MILLI,
            Delays::Uniform => random.random_range(100 * MICRO..40 * MILLI),
            Delays::LogUniform => {
                let bounds = [100 * MICRO, HOUR].map(|nanos| (nanos as f64).ln());
                random.random_range(bounds[0]..bounds[1]).exp() as u64
            }
            Delays::TwoHumped if random.random() => random.random_range(MILLI..2 * MILLI),
            Delays::TwoHumped => random.random_range(60 * SECOND..120 * SECOND),
        }
    }
}
