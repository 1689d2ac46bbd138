//! What a window found beyond its value.

use serde::{Deserialize, Serialize};

/// What a window found beyond its value: each part only where the workload looks for it.
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
    /// How evenly threads of the same kind came to their turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Fairness>,
    /// How the process was warmed up before its first window, where its language compiles while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUp>,
}

/// Short windows that were not counted, one after the other until their values no longer changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarmUp {
    /// How many.
    pub windows: u32,
    /// How long all of them took, nanoseconds.
    pub nanos: u64,
    /// Whether their values had settled; else patience ended first.
    pub settled: bool,
}

/// How evenly threads or tasks of the same kind came to their turns, as Jain's index: 1 where all had as many, 1/n where
/// one of n had all of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// Of those who put, from the beginning of the ramp until each of them stopped; 1 where nobody does.
    pub producers: f64,
    /// Of those who take, between the edges: values, or permits of a limiter.
    pub consumers: f64,
}

/// How late timers fired: histograms of nanoseconds, HdrHistogram V2 (uncompressed), base64 with padding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// From the deadline to the call: of a callback, of a task that is polled, of a thread that runs on.
    pub called: String,
    /// From the deadline to the moment at which the timer noticed; where the design says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<String>,
    /// Calls before their deadline; they are in no histogram. Stages of ours fail instead of answering any: other
    /// programs that speak the protocol may answer them.
    pub early: u64,
}

/// How many tasks were in flight: from the call of the function to the end of its work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InFlight {
    /// Tasks that were asked for at a time.
    pub parallelism: u64,
    /// Most at one moment.
    pub peak: u64,
    /// Mean over time.
    pub mean: f64,
    /// Pairs of a moment (nanoseconds since the first task) and how many there were at most until the next; the
    /// last one is the end.
    pub timeline: Vec<(u64, u64)>,
}

/// How full the fullest half-open period was, wherever it begins, as those who acquired saw it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Excess {
    /// Length of a period, nanoseconds.
    pub period_nanos: u64,
    /// Acquisitions that a period may hold.
    pub allowed: u64,
    /// Acquisitions in the fullest one.
    pub worst: u64,
}
