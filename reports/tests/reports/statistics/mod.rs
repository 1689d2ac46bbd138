//! The guarantees of the estimates, on runs with known true values.

mod diff;
mod judgement;
mod layouts;
mod open_loop;
mod paired;
mod ratios;
mod runs;
mod tiers;

use flowmeter_records::RunData;
use flowmeter_reports::{Estimates, estimate};

use crate::fixture::Shape;

fn estimated(run: &RunData) -> Estimates {
    estimate(std::slice::from_ref(run)).expect("the fixture is sound")
}

fn small(seed: u64) -> Shape {
    Shape {
        implementations: 4,
        scenarios: 8,
        seed,
        histograms: false,
        failures: false,
        ..Shape::default()
    }
}

/// Sets every value of an implementation in a scenario.
fn set(run: &mut RunData, scenario: &str, implementation: &str, of: impl Fn(u32) -> f64) {
    for w in &mut run.windows {
        if w.scenario == scenario && w.implementation == implementation && !w.placebo {
            w.value = of(w.round);
        }
    }
}
