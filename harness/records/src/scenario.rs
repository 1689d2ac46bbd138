//! Scenarios: workloads with their parameters.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a scenario's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Operations per second; higher is better.
    Throughput,
    /// 99th percentile of a lateness (of a message after its intended moment, of a timer after its deadline),
    /// nanoseconds; lower is better.
    Latency,
    /// The cost of something, in the scenario's unit; lower is better.
    Cost,
}

impl Measure {
    /// Whether higher or lower is better.
    pub const fn better(self) -> Better {
        match self {
            Measure::Throughput => Better::Higher,
            Measure::Latency | Measure::Cost => Better::Lower,
        }
    }
}

/// Whether higher or lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Higher is better.
    Higher,
    /// Lower is better.
    Lower,
}

/// A workload with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Path below `scenarios/` without `.toml`, such as `channels/spsc-64`.
    pub name: String,
    /// Ranking group: `channels`, `alts`, `timers`, `pipelines`, `limiters`, `executors`.
    pub group: String,
    /// One line that says what happens.
    pub title: String,
    /// A paragraph on why it matters.
    pub why: String,
    /// `blocking`, `async`, `callback`, or `native`: each implementation in its own.
    pub form: String,
    /// What the value is.
    pub measure: Measure,
    /// Unit of the value, such as `messages/s` or `ns`.
    pub unit: String,
    /// The workload's parameters as text, for tables.
    pub params: BTreeMap<String, String>,
    /// Where it stands on the axes of the charts.
    pub axes: Axes,
    /// The scenario as sent to the implementations' processes, so that a run can be resumed without its file. Null where
    /// the writer cannot resume.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub spec: serde_json::Value,
}

/// The position of a scenario on the axes that charts share. Axes that do not apply are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axes {
    /// Scenarios with the same family differ only along the axes below and share a chart.
    pub family: String,
    /// Producing threads or tasks.
    pub producers: Option<usize>,
    /// Consuming threads or tasks.
    pub consumers: Option<usize>,
    /// Values that fit: 0 rendezvous, absent for unbounded or where it does not apply.
    pub capacity: Option<usize>,
    /// Whether the buffer has no bound.
    pub unbounded: bool,
    /// Size of a message, bytes.
    pub message_bytes: Option<usize>,
    /// Clauses of an alts.
    pub width: Option<usize>,
    /// Timers armed, acquirers or tasks waiting, at a time.
    #[serde(default)]
    pub waiting: Option<usize>,
    /// Tasks of a pipeline at a time.
    #[serde(default)]
    pub parallelism: Option<usize>,
    /// Offered load, messages per second (open loop).
    pub rate: Option<u64>,
    /// Offered load, percent of what each implementation can take (open loop).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_percent: Option<u64>,
    /// More busy threads than the machine has cores.
    pub oversubscribed: bool,
}
