//! Timed windows, counts, and cells without a result.

use serde::{Deserialize, Serialize};

use super::Findings;

/// The build of an implementation that is timed beside the one of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Build {
    /// The one that the build of the run is compared with.
    Base,
}

/// One timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The scenario.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// Whether this is the second entry of the same implementation; how far it is off checks the health of the run.
    pub placebo: bool,
    /// A copy slowed on purpose by that many percent, to test whether the engine notices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowed_percent: Option<u32>,
    /// The build that was timed, if it is not the one of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Build>,
    /// Generation of child processes, from 0.
    pub fork: u32,
    /// Round of this scenario in the run, from 0, counted over all forks.
    pub round: u32,
    /// The value, in the scenario's unit.
    pub value: f64,
    /// Operations between the edges.
    pub operations: u64,
    /// Time between the edges, nanoseconds.
    pub nanos: u64,
    /// CPU time of the process between the edges, nanoseconds.
    pub cpu_nanos: Option<u64>,
    /// Times a thread gave up its core to wait.
    pub voluntary_switches: Option<u64>,
    /// Times a thread was pushed off its core.
    pub involuntary_switches: Option<u64>,
    /// Times a thread was preempted.
    pub peak_bytes: Option<u64>,
    /// Share of the rate that was missed, 0 to 1, where that is more than a hundredth (open loop).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsustained: Option<f64>,
    /// 99th percentile of the generator's own lateness, without its waits in earlier puts, nanoseconds
    /// (open loop).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_p99_nanos: Option<u64>,
    /// Latencies, of open-loop scenarios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Further observations.
    #[serde(flatten)]
    pub findings: Findings,
}

/// Latencies of a window: hdrhistogram V2 in base64, nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// From the intended moment of sending to the take.
    pub response: String,
    /// From the actual moment of sending to the take.
    pub service: String,
    /// From the intended to the actual moment: the generator's own lateness.
    pub generator: String,
}

/// The uncontended cost of an operation on a single thread, as criterion timed it in `cargo bench`. The engine need not
/// have timed the scenario in this run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uncontended {
    /// The scenario.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// Criterion's typical estimate: the slope of its regression, or the mean; nanoseconds an operation.
    pub nanos: f64,
    /// Lower end of its 95 % interval.
    pub lo: f64,
    /// Upper end of its 95 % interval.
    pub hi: f64,
}

/// Why a cell has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// A property that the scenario relies on failed before timing, or its check did not complete.
    Proof,
    /// A property that the scenario relies on is undecided, or none of them applies to the implementation.
    Unproved,
    /// It gave no answer in time and was killed.
    Hang,
    /// Its process ended: an abort, a signal, an exit.
    Crash,
    /// It panicked.
    Panic,
    /// Its output differs from its input: count, checksum or order.
    Count,
    /// Nothing was measured: the generator gave up, or nothing happened between the edges.
    Void,
    /// Its answer violates the protocol.
    Protocol,
}

/// A cell that has no result, and the reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The scenario.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// The second entry of the same implementation.
    pub placebo: bool,
    /// A copy slowed on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowed_percent: Option<u32>,
    /// The build that failed, if it is not the one of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Build>,
    /// Generation of child processes.
    pub fork: u32,
    /// Round, if one had begun.
    pub round: Option<u32>,
    /// The kind of failure.
    pub kind: FailureKind,
    /// What was observed, in a sentence.
    pub message: String,
}

/// Every entry of that scenario has had its window, or its failure, in this round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The scenario.
    pub scenario: String,
    /// Generation of child processes.
    pub fork: u32,
    /// Round of this scenario in the run.
    pub round: u32,
    /// The time of a cache line to another core and back before the round, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_round_trip_nanos: Option<f64>,
    /// The time of a fixed piece of work on one core before the round, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_work_nanos: Option<u64>,
}

/// The allocations of an implementation, counted in a process of its own, in which nothing was timed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    /// The scenario.
    pub scenario: String,
    /// The implementation.
    pub implementation: String,
    /// Operations between the edges of its window.
    pub operations: u64,
    /// Allocations between the edges.
    pub allocations: u64,
    /// Bytes allocated between the edges.
    pub bytes: u64,
    /// Peak of the bytes held between the edges, above those held at the first edge.
    pub peak_live_bytes: u64,
}
