//! Scenarios: a workload with its parameters, and a paragraph on why it matters.
//!
//! A scenario is one TOML file below `scenarios/`; its folder is the ranking group. The curated ones are compiled in
//! ([`built_in`]); [`from_folder`] reads more. A child process receives a whole scenario, serialised.

mod curated;
mod file;
mod terms;

use std::collections::{BTreeMap, BTreeSet};

use flowmeter_records::{Axes, Measure, Scenario};
use serde::{Deserialize, Serialize};

pub use curated::{BUILT_IN, built_in};
pub(crate) use file::Source;
pub use file::{ScenarioError, from_folder, parse};
pub use terms::{Capacity, Form, Load, MessageKind, Rate, Room, Threads, Within, cores};

use crate::workloads::Work;

/// A workload with its parameters, from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenarioSpec {
    /// Path below `scenarios/` without `.toml`, such as `channels/spsc-64`.
    pub name: String,
    /// One line that says what happens.
    pub title: String,
    /// A paragraph on why it matters.
    pub why: String,
    /// Position in the curated set that `cargo bench` runs, lowest first; if absent, it runs only when selected.
    pub priority: Option<u32>,
    /// The workload and its parameters.
    pub work: Work,
}

/// The facts of a workload with given parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// How its operations wait.
    pub form: Form,
    /// The kind of its value.
    pub measure: Measure,
    /// Unit of the value.
    pub unit: &'static str,
    /// Its position on the axes of charts.
    pub axes: Axes,
}

impl ScenarioSpec {
    /// Ranking group: the first folder of the name.
    pub fn group(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// The form in records.
    pub fn record(&self) -> Scenario {
        let facts = self.work.facts();
        Scenario {
            name: self.name.clone(),
            group: self.group().to_owned(),
            title: self.title.clone(),
            why: self.why.clone(),
            form: facts.form.name().to_owned(),
            measure: facts.measure,
            unit: facts.unit.to_owned(),
            params: self.params(),
            axes: facts.axes,
            spec: serde_json::to_value(self).expect("a scenario is plain data"),
        }
    }

    /// The workload's name and its parameters as text.
    fn params(&self) -> BTreeMap<String, String> {
        let work = serde_json::to_value(&self.work).unwrap_or_default();
        let workload = ("workload".to_owned(), plain(&work["workload"]));
        let params = work["params"].as_object().into_iter().flatten();
        params
            .map(|(key, value)| (key.clone(), plain(value)))
            .chain([workload])
            .collect()
    }
}

/// `64`, `rendezvous`, `fixed(64)`.
fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Object(table) => {
            let entries = table.iter().map(|(key, v)| format!("{key}({})", plain(v)));
            entries.collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

/// Curated scenarios first, in their order, then the others by name.
///
/// # Errors
/// [`ScenarioError::Twice`].
pub fn in_order(mut scenarios: Vec<ScenarioSpec>) -> Result<Vec<ScenarioSpec>, ScenarioError> {
    let mut names = BTreeSet::new();
    if let Some(twice) = scenarios.iter().find(|s| !names.insert(&s.name)) {
        let name = twice.name.clone();
        return Err(ScenarioError::Twice { name });
    }
    scenarios.sort_by_key(|s| (s.priority.unwrap_or(u32::MAX), s.name.clone()));
    Ok(scenarios)
}
