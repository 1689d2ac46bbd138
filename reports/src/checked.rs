//! What was checked of an implementation: decided here for every table and for the page.
//!
//! A property asks an implementation in Rust, so nobody in another language is asked any. What stands for their numbers is
//! the proof of the process that is timed: it writes down every value of an untimed pass, and compares number and checksum
//! after each window. Such a one is *self-checked*: less than a property, and more than nothing.

use flowmeter_harness::caps::Origin;
use flowmeter_harness::record::{FailureKind, RunData, Verdict};

use crate::statistics::origin;

/// What self-checked means, in a sentence that fits a line.
pub const SELF_CHECKED: &str =
    "self-checked: its own process proved what it timed, and no property can be asked of it";

/// What was checked of an implementation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// These did not hold: properties, or what its own process proved in a scenario.
    Failed(Vec<String>),
    /// These properties held, and none failed.
    Held(Vec<String>),
    /// In another language: its own process proved what it timed.
    Itself,
    /// Nothing.
    Nothing,
}

impl Checked {
    /// In these runs together.
    pub fn of(runs: &[RunData], implementation: &str) -> Checked {
        let foreign = origin(runs, implementation) == Origin::Foreign;
        let mut failed = properties(runs, implementation, &[Verdict::Fail, Verdict::Error]);
        if foreign {
            failed.extend(disproved(runs, implementation));
        }
        if !failed.is_empty() {
            return Checked::Failed(failed);
        }
        let held = properties(runs, implementation, &[Verdict::Pass]);
        let windows = || runs.iter().flat_map(|run| &run.windows);
        match held.is_empty() {
            false => Checked::Held(held),
            true if foreign && windows().any(|w| w.implementation == implementation) => {
                Checked::Itself
            }
            true => Checked::Nothing,
        }
    }

    /// In a word or two.
    pub fn word(&self) -> String {
        match self {
            Checked::Failed(what) => format!("✗ {}", what.len()),
            Checked::Held(properties) => format!("✓ {}", properties.len()),
            Checked::Itself => "self-checked".to_owned(),
            Checked::Nothing => "unproved".to_owned(),
        }
    }

    /// In a sentence.
    pub fn sentence(&self) -> String {
        match self {
            Checked::Failed(what) => format!("failed: {}", what.join(", ")),
            Checked::Held(properties) => match properties.len() {
                1 => format!("1 property held: {}", properties[0]),
                n => format!("{n} properties held: {}", properties.join(", ")),
            },
            Checked::Itself => SELF_CHECKED.to_owned(),
            Checked::Nothing => "no property was checked".to_owned(),
        }
    }
}

/// Properties that came to one of these verdicts.
fn properties(runs: &[RunData], implementation: &str, verdicts: &[Verdict]) -> Vec<String> {
    let proofs = runs.iter().flat_map(|run| &run.proofs);
    let of = proofs.filter(|p| p.implementation == implementation && verdicts.contains(&p.verdict));
    let mut names: Vec<String> = of.map(|p| p.property.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Scenarios in which its own process found it wrong.
fn disproved(runs: &[RunData], implementation: &str) -> Vec<String> {
    let failures = runs.iter().flat_map(|run| &run.failures);
    let wrong = failures.filter(|failure| {
        failure.implementation == implementation
            && matches!(failure.kind, FailureKind::Proof | FailureKind::Count)
    });
    let mut scenarios: Vec<&str> = wrong.map(|failure| &*failure.scenario).collect();
    scenarios.sort_unstable();
    scenarios.dedup();
    let said = scenarios.into_iter();
    said.map(|scenario| format!("its own proof in {scenario}"))
        .collect()
}
