//! A run: the request, the machine, the implementations, and the end.

use serde::{Deserialize, Serialize};

use flowmeter_harness::caps::Origin;

/// The request, the time, the build and the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA`](super::SCHEMA) of the writer.
    pub schema: u32,
    /// Start of the run, UTC, `2026-11-20T11:39:00Z`.
    pub started: String,
    /// The command that repeats it.
    pub command: String,
    /// Folder of scenarios besides the built-in ones, as given on the command line; needed to measure again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario_dir: Option<String>,
    /// Folder of implementations in other languages, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_dir: Option<String>,
    /// Commit of the build, `unknown` outside a checkout; `-dirty` appended with local changes.
    pub commit: String,
    /// Seed of every shuffle.
    pub seed: u64,
    /// Generations of child processes per scenario.
    pub forks: u32,
    /// Looks at what is measured; what is settled is measured no further. The last look is after all forks, and each one
    /// before it after half as many.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub looks: u32,
    /// Rounds per fork.
    pub rounds: u32,
    /// Length of a window, nanoseconds.
    pub window_nanos: u64,
    /// Where threads might run: `free`, `one-core`, `core-per-thread`, `siblings`, `sockets` or `where-possible`.
    #[serde(default)]
    pub pinning: String,
    /// Time limit for all windows together, seconds; `window_nanos` is then the longest window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_seconds: Option<u64>,
    /// A copy of one implementation in each scenario was slowed by that many percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowed_percent: Option<u32>,
    /// The program of the base build, which timed our implementations a second time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// The promises that the base build gives up, where it is this build without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<GivenUp>,
    /// Layouts of the program that timed. Fork f ran in layout f modulo this.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub layouts: u32,
    /// Too few forks or rounds to call anything faster.
    pub exploratory: bool,
    /// Built with debug assertions, as cargo's `dev` profile does, and so unoptimised: the timings are not
    /// representative.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unoptimised: bool,
    /// The machine.
    pub machine: Machine,
}

/// A promise that a build gives up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenUp {
    /// Its name: that of a claim.
    pub promise: String,
    /// What the build does in place of keeping it.
    pub says: String,
    /// Published crates that do not make the promise.
    pub crates: Vec<String>,
}

fn one() -> u32 {
    1
}

// serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_one(number: &u32) -> bool {
    *number == 1
}

/// The machine of a run. Unknown values are `unknown` or absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Model of the processor.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Which of them share a core, a cache, a socket, where the system says.
    #[serde(default)]
    pub topology: Option<Topology>,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Operating system and kernel.
    pub os: String,
    /// Frequency governor.
    pub governor: String,
    /// Hypervisor, if one is detected.
    pub hypervisor: String,
    /// What the processor counts for a process, or why it counts nothing.
    #[serde(default)]
    pub counters: String,
    /// Compiler of this build.
    pub rustc: String,
    /// Cost of reading the engine's clock, nanoseconds.
    pub clock_read_nanos: Option<f64>,
    /// Time of a cache line to another core and back, nanoseconds.
    pub core_round_trip_nanos: Option<f64>,
    /// Time to wake a parked thread and to be woken by it, nanoseconds.
    pub park_round_trip_nanos: Option<f64>,
}

/// What the hardware threads that a process may use belong to, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// Hardware threads.
    pub hardware_threads: usize,
    /// Cores, which have one or more hardware threads.
    pub cores: usize,
    /// Groups of cores that share their largest cache, where the system says.
    pub last_level_caches: Option<usize>,
    /// Groups of cores with memory of their own, where the system says.
    pub numa_nodes: Option<usize>,
    /// Processor packages.
    pub sockets: usize,
}

/// An implementation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Implementation {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Version of its crate.
    pub version: String,
    /// Stable names of what it claims.
    pub caps: Vec<String>,
    /// Its kind: `channel`, `timer`, `pipeline`, `limiter` or `executor`; empty where it is not stated.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Measured for comparison only: excluded from rankings and from the best values.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
}

/// How quiet the machine was: also the line that `noise --format json` prints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Runnable processes over the last minute.
    pub load_1m: Option<f64>,
    /// Share of time that the hypervisor gave to other guests, 0 to 1.
    pub steal: Option<f64>,
    /// Share of the cores that other processes used while this one was idle, 0 to 1.
    pub busy: Option<f64>,
    /// Spread of a fixed piece of work, timed repeatedly: (p90 - p10) / p50.
    pub spread: Option<f64>,
    /// 0 silent to 100 unusable.
    pub score: u32,
    /// Whether `--strict` would proceed.
    pub quiet: bool,
}

/// The end of a complete run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Wall time of all its parts, seconds.
    pub seconds: f64,
    /// Windows timed.
    pub windows: u64,
    /// Cells without a result.
    pub failures: u64,
    /// Scenarios dropped for lack of time, in their order.
    #[serde(default)]
    pub dropped: Vec<String>,
}
