//! What a child runs in a window: the interface between the engine and the workloads.

use hdrhistogram::Histogram;

use super::allocation::Allocated;
use super::reading::Cost;
use flowmeter_records::{Counters, FailureKind, Findings};

/// A window to be timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSpec {
    /// Untimed work before the first edge, nanoseconds.
    pub ramp_nanos: u64,
    /// Time between the edges, nanoseconds.
    pub nanos: u64,
    /// The percentage of the time to spend idle on purpose. It shows whether the engine notices.
    pub slowed_percent: Option<u32>,
    /// Seed of the workload's random choices.
    pub seed: u64,
}

/// The observations between the edges of a window.
#[derive(Clone, Debug)]
pub struct Sample {
    /// In the scenario's unit.
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
    /// Share of the offered rate that was missed, 0 to 1, where it was more than 1 %; of open-loop scenarios.
    pub unsustained: Option<f64>,
    /// 99th percentile of the generator's own lateness, without its waits in earlier puts, nanoseconds; of
    /// open-loop scenarios.
    pub generator_p99_nanos: Option<u64>,
    /// Latencies, of open-loop scenarios.
    pub latency: Option<LatencySample>,
    /// What the processor counted between the edges, which joins the findings on the wire.
    pub counters: Option<Counters>,
    /// Further observations.
    pub findings: Findings,
    /// What was allocated between the edges, in a process that counts.
    pub allocated: Option<Allocated>,
}

impl Sample {
    /// A sample of `operations` operations in `nanos`, with that value and cost, and no further findings.
    pub fn new(value: f64, operations: u64, nanos: u64, cost: Cost) -> Sample {
        Sample {
            value,
            operations,
            nanos,
            cpu_nanos: cost.used.map(|used| used.cpu_nanos),
            voluntary_switches: cost.used.map(|used| used.voluntary_switches),
            involuntary_switches: cost.used.map(|used| used.involuntary_switches),
            unsustained: None,
            generator_p99_nanos: None,
            latency: None,
            counters: cost.counted,
            findings: Findings::default(),
            allocated: cost.allocated,
        }
    }
}

/// Histograms of one window, nanoseconds.
#[derive(Clone, Debug)]
pub struct LatencySample {
    /// From the intended moment of sending to the take.
    pub response: Histogram<u64>,
    /// From the actual moment of sending to the take.
    pub service: Histogram<u64>,
    /// From the intended to the actual moment of sending.
    pub generator: Histogram<u64>,
}

/// Why a stage has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StageError {
    /// The kind of failure.
    pub kind: FailureKind,
    /// What was observed, in a sentence.
    pub message: String,
}

/// One implementation about to run one scenario.
pub trait Stage {
    /// Runs the workload untimed, verifying count, order and bounds.
    ///
    /// # Errors
    /// The violation.
    fn prove(&mut self) -> Result<(), StageError>;

    /// Runs one timed window; count and checksum are verified after it.
    ///
    /// # Errors
    /// The violation, or why the window is void.
    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError>;
}
