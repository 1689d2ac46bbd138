//! Observations of a window beyond its value.

use serde::{Deserialize, Serialize};

/// Observations of a window beyond its value. Each part is present only if the workload measures it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// How late timers fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Lateness>,
    /// How many tasks of a pipeline were in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<InFlight>,
    /// How full the fullest period of a limiter was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess: Option<Excess>,
    /// What the processor counted in the process, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
    /// What the workload's own loop takes without the implementation, nanoseconds per operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bare_nanos: Option<f64>,
    /// Messages a second that were offered, where each implementation is offered a share of its own capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<f64>,
    /// How evenly turns were distributed over threads of the same kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Fairness>,
    /// How the process was warmed up before its first window, if its language compiles at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUp>,
}

/// What the processor counted in the code of a process, without the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Instructions.
    pub instructions: u64,
    /// Accesses that missed the last cache.
    pub cache_misses: u64,
}

/// Short windows that were not counted, repeated until their values no longer changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarmUp {
    /// Number of windows.
    pub windows: u32,
    /// Total duration, nanoseconds.
    pub nanos: u64,
    /// Whether their values had settled; otherwise the time limit was reached.
    pub settled: bool,
}

/// How evenly turns were distributed over threads or tasks of the same kind, as Jain's index: 1 if all had equally
/// many, 1/n if one of n had all of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// Over the producers, from the start of the ramp until each of them stopped; 1 if there are none.
    pub producers: f64,
    /// Over the consumers, between the edges: values, or permits of a limiter.
    pub consumers: f64,
}

/// How late timers fired: histograms of nanoseconds, HdrHistogram V2 (uncompressed), base64 with padding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// From the deadline to the call of a callback, to the poll of a task, or until a thread runs again.
    pub called: String,
    /// From the deadline to the moment at which the timer noticed, where the design reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<String>,
    /// Calls before their deadline, which are in no histogram. Our own stages fail instead of reporting any; other
    /// programs that speak the protocol may report them.
    pub early: u64,
}

/// How many tasks were in flight: from the call of the function to the end of its work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InFlight {
    /// Tasks that may be in flight at a time.
    pub parallelism: u64,
    /// Most at one moment.
    pub peak: u64,
    /// Mean over time.
    pub mean: f64,
    /// Pairs of a moment (nanoseconds since the first task) and the maximum in flight until the next moment. The last
    /// pair is the end.
    pub timeline: Vec<(u64, u64)>,
}

/// How full the fullest half-open period was, wherever it begins, as observed by the acquiring threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Excess {
    /// Length of a period, nanoseconds.
    pub period_nanos: u64,
    /// Acquisitions that a period may hold.
    pub allowed: u64,
    /// Acquisitions in the fullest one.
    pub worst: u64,
}
