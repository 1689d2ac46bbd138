//! What a scenario measures, since a mean of unlike things means nothing.

use std::collections::BTreeMap;

use flowmeter_records::{Measure, Scenario, Window};
use serde::{Deserialize, Serialize};

use super::RELEVANT;
use super::estimates::Standing;
use super::samples::{Entry, ScenarioSamples};

/// A quantity. Each has rankings of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Operations in a time, or the time of an operation.
    Speed,
    /// A high percentile of latencies.
    TailLatency,
    /// The same where each has a load of its own, a share of its capacity. A slow one has little to do, so an order
    /// would mean nothing.
    OwnLoad,
    /// CPU time of an operation: the value of a scenario, or what windows recorded beside it.
    CpuTime,
    /// How far a makespan is above the ideal one.
    Excess,
    /// A time that a rate dictates: it is kept or not, and an order would rank noise.
    Ceiling,
    /// Another cost, such as wake-ups.
    Cost,
}

/// Why two builds are not compared there: a faster one was offered more.
pub(crate) const OWN_LOADS: &str = "each build had a load of its own";

/// The unit of a makespan, divided by the ideal one.
const IDEAL: &str = "x ideal";

/// The unit of CPU time.
const CPU: &str = "ns CPU";

/// Excesses of less than this share of the ideal count as equal: clocks and wake-ups move a makespan by as much.
const LEAST_EXCESS: f64 = 0.01;

impl Quantity {
    /// In the order of the tables.
    pub const ALL: [Quantity; 7] = [
        Quantity::Speed,
        Quantity::TailLatency,
        Quantity::OwnLoad,
        Quantity::CpuTime,
        Quantity::Excess,
        Quantity::Ceiling,
        Quantity::Cost,
    ];

    /// The quantity of a scenario's value.
    pub fn of(scenario: &Scenario) -> Quantity {
        match (scenario.measure, &*scenario.unit) {
            (Measure::Throughput, _) => Quantity::Speed,
            (Measure::Latency, _) if scenario.axes.load_percent.is_some() => Quantity::OwnLoad,
            (Measure::Latency, _) => Quantity::TailLatency,
            (Measure::Cost, IDEAL) if scenario.axes.rate.is_some() => Quantity::Ceiling,
            (Measure::Cost, IDEAL) => Quantity::Excess,
            (Measure::Cost, CPU) => Quantity::CpuTime,
            (Measure::Cost, "ns" | "ns/op") => Quantity::Speed,
            (Measure::Cost, _) => Quantity::Cost,
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Speed => "speed",
            Quantity::TailLatency => "tail latency",
            Quantity::OwnLoad => "tail latency at own load",
            Quantity::CpuTime => "CPU time",
            Quantity::Excess => "excess over ideal",
            Quantity::Ceiling => "ceiling",
            Quantity::Cost => "cost",
        }
    }

    /// What ratios are made of, for a value of that quantity.
    pub fn compared(self, value: f64) -> f64 {
        match self {
            Quantity::Excess => (value - 1.0).max(LEAST_EXCESS),
            _ => value,
        }
    }

    /// Whether the interval of a time keeps within [`RELEVANT`] of what the rate dictates.
    pub fn reached(lo: f64, hi: f64) -> Standing {
        let most = 1.0 + RELEVANT;
        match () {
            () if hi <= most => Standing::Reached,
            () if lo > most => Standing::Missed,
            () => Standing::Undecided,
        }
    }
}

/// A scenario with the CPU time of an operation in this one for its value.
pub fn of_cpu(scenario: &Scenario) -> Scenario {
    Scenario {
        measure: Measure::Cost,
        unit: CPU.to_owned(),
        ..scenario.clone()
    }
}

/// The CPU time of an operation in a window; none if it was not recorded, or is too short for the system's clock.
fn cpu(window: &Window) -> Option<f64> {
    let nanos = window.cpu_nanos.filter(|nanos| *nanos > 0)?;
    (window.operations > 0).then(|| nanos as f64 / window.operations as f64)
}

/// The same windows with their CPU time for values. Entries with a window that lacks it are left out.
pub fn samples_of_cpu<'a>(
    samples: &ScenarioSamples<'a>,
    scenario: &'a Scenario,
) -> ScenarioSamples<'a> {
    let mut windows = samples.windows.clone();
    windows.retain(|(_, entry), rounds| {
        let mut rounds = rounds.values();
        *entry == Entry::Original && rounds.all(|timed| cpu(timed.window).is_some())
    });
    ScenarioSamples {
        scenario,
        forks: samples.forks.clone(),
        rounds: samples.rounds,
        windows,
        pooled: BTreeMap::new(),
        failures: samples.failures.clone(),
        value: |window| cpu(window).unwrap_or(f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_excess_is_none_and_a_ceiling_needs_its_whole_interval() {
        assert_eq!(Quantity::Excess.compared(1.5), 0.5);
        assert_eq!(Quantity::Excess.compared(0.98), LEAST_EXCESS);
        assert_eq!(Quantity::Speed.compared(0.98), 0.98);
        for (lo, hi, standing) in [
            (0.99, 1.05, Standing::Reached),
            (1.01, 1.06, Standing::Undecided),
            (1.06, 1.50, Standing::Missed),
        ] {
            assert_eq!(Quantity::reached(lo, hi), standing);
        }
    }
}
