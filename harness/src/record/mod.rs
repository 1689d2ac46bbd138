//! The one schema of a run: what the engine appends and everything else reads.
//!
//! A run is a folder. `records.jsonl` in it holds one [`Record`] a line, appended and never rewritten
//! (a resumed run cuts off a torn last line and an unfinished round first). The first line is the
//! [`Run`]; scenarios and implementations come before the first record that names them. Readers ignore
//! keys and records they do not know, so that a newer writer does not break an older reader; a new
//! meaning of an old key raises [`SCHEMA`].
#![doc = include_str!("../record.md")]

mod findings;
mod read;
mod timeline;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::findings::{Excess, Fairness, Findings, InFlight, Lateness, WarmUp};
pub use self::read::{RecordError, RunData, read_records, read_run};
pub use self::timeline::{Span, Step, Timeline};
use crate::caps::Origin;

/// Version of this schema; a reader refuses another one.
pub const SCHEMA: u32 = 1;

/// Name of the file of records in a run's folder.
pub const RECORDS_FILE: &str = "records.jsonl";

/// One line of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// First line: what was asked for, when, by which build, on which machine.
    Run(Box<Run>),
    /// A contestant of this run.
    Implementation(Implementation),
    /// A scenario of this run.
    Scenario(Scenario),
    /// A property checked before anything was timed.
    Proof(Proof),
    /// What an operation costs with nobody in the way, by criterion.
    Uncontended(Uncontended),
    /// One timed window: a cell in one round.
    Window(Window),
    /// A cell that has no number, and why.
    Failure(Failure),
    /// Every entry of that scenario has had its window (or failure) in this round.
    Round(Round),
    /// What a contestant allocates, from a pass of its own after the timed rounds.
    Allocation(Allocation),
    /// How quiet the machine was.
    Noise(Noise),
    /// A claim of a seed text, and what an implementation did.
    SeedClaim(SeedClaim),
    /// A mutant, and what a property made of it.
    Mutant(Attack),
    /// Last line of a run that came to its end.
    End(End),
    /// A kind that this build does not know; never written, and left out when read.
    #[serde(other)]
    Unknown,
}

/// What was asked for, when, by which build, on which machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA`] of the writer.
    pub schema: u32,
    /// Start of the run, UTC, `2026-11-20T11:39:00Z`.
    pub started: String,
    /// The command that repeats it.
    pub command: String,
    /// Commit of the build, `unknown` outside a checkout; `-dirty` appended with local changes.
    pub commit: String,
    /// Seed of every shuffle.
    pub seed: u64,
    /// Generations of child processes per scenario.
    pub forks: u32,
    /// Rounds per fork.
    pub rounds: u32,
    /// Length of a window, nanoseconds.
    pub window_nanos: u64,
    /// Where threads might run: `free`, `one-core` or `core-per-thread`.
    #[serde(default)]
    pub pinning: String,
    /// Time that all windows were to fit into, seconds; then `window_nanos` is the longest that one may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_seconds: Option<u64>,
    /// A copy of one implementation in each scenario was slowed by so many percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowed_percent: Option<u32>,
    /// Too few forks or rounds to call anything faster.
    pub exploratory: bool,
    /// Built with debug assertions, as cargo's `dev` profile does, and so unoptimised: what was timed is not what
    /// anybody ships.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unoptimised: bool,
    /// The machine.
    pub machine: Machine,
}

/// The machine of a run; what cannot be known is `unknown` or absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Model of the processor.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Operating system and kernel.
    pub os: String,
    /// Frequency governor.
    pub governor: String,
    /// Hypervisor, if one shows.
    pub hypervisor: String,
    /// Compiler of this build.
    pub rustc: String,
    /// Reading the engine's clock, nanoseconds.
    pub clock_read_nanos: Option<f64>,
    /// A cache line's way to another core and back, nanoseconds.
    pub core_round_trip_nanos: Option<f64>,
    /// Waking a parked thread and being woken by it, nanoseconds.
    pub park_round_trip_nanos: Option<f64>,
}

/// A contestant.
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
    /// What it is: `channel`, `timer`, `pipeline`, `limiter` or `executor`; empty where nobody says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Measured beside the others for comparison: in no ranking, and nobody's best.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference: bool,
}

/// What a scenario's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Operations per second; higher is better.
    Throughput,
    /// 99th percentile of how late something came (a message after its intended moment, a timer after its deadline),
    /// nanoseconds; lower is better.
    Latency,
    /// What something cost, in the scenario's unit; lower is better.
    Cost,
}

/// Which way is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Higher is better.
    Higher,
    /// Lower is better.
    Lower,
}

impl Measure {
    /// Which way is up.
    pub const fn better(self) -> Better {
        match self {
            Measure::Throughput => Better::Higher,
            Measure::Latency | Measure::Cost => Better::Lower,
        }
    }
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
    /// The scenario as contestants' processes are told it, so that a run can be resumed without its file;
    /// null where the writer cannot resume.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub spec: serde_json::Value,
}

/// Where a scenario stands on the axes that charts share; what does not apply is absent.
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
    /// More busy threads than the machine has cores.
    pub oversubscribed: bool,
}

/// Outcome of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Held wherever it was looked.
    Pass,
    /// A counterexample was found.
    Fail,
    /// The implementation does not claim it.
    Unclaimed,
    /// It cannot run in this world.
    NotInstrumentable,
    /// The budget ended before the search.
    Inconclusive,
    /// The check itself broke: a hang, an abort.
    Error,
}

/// A property checked on an implementation in a world: also the line that `check --format json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// Who.
    pub implementation: String,
    /// Id of SEMANTICS.md and name, such as `c2-order`.
    pub property: String,
    /// `std`, `loom`, `shuttle` or `sim`.
    pub world: String,
    /// Outcome.
    pub verdict: Verdict,
    /// Whether every execution of every model was seen, within the world's bounds. Models of generated programs are
    /// a sample.
    pub complete: bool,
    /// How many executions.
    pub executions: u64,
    /// How long it took.
    pub seconds: f64,
    /// Where the counterexample lies.
    pub counterexample: Option<PathBuf>,
    /// What was seen, in a sentence, when it did not pass.
    #[serde(default)]
    pub detail: Option<String>,
    /// The command that shows it again.
    pub replay: Option<String>,
}

/// What an operation of a single thread costs, as criterion timed it in `cargo bench`. The scenario may be one
/// that the engine did not time in this run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uncontended {
    /// Which scenario.
    pub scenario: String,
    /// Who.
    pub implementation: String,
    /// Criterion's typical estimate: the slope of its regression, or the mean; nanoseconds an operation.
    pub nanos: f64,
    /// Lower end of its 95 % interval.
    pub lo: f64,
    /// Upper end of its 95 % interval.
    pub hi: f64,
}

/// One timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Which scenario.
    pub scenario: String,
    /// Who.
    pub implementation: String,
    /// The second entry of the same implementation, whose spread is the noise floor.
    pub placebo: bool,
    /// A copy slowed on purpose by so many percent, to see whether the engine notices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowed_percent: Option<u32>,
    /// Generation of child processes, from 0.
    pub fork: u32,
    /// Round within the run of this scenario, from 0, counted through all forks.
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
    /// Peak memory of the process so far, bytes.
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
    /// What was found beside.
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

/// Why a cell has no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// A property that the scenario relies on failed before timing.
    Proof,
    /// It gave no answer in time and was killed.
    Hang,
    /// Its process ended: an abort, a signal, an exit.
    Crash,
    /// It panicked.
    Panic,
    /// What it delivered is not what was put: count, checksum or order.
    Count,
    /// Nothing was measured: the generator gave up, or nothing happened between the edges.
    Void,
    /// It answered something that is not the protocol.
    Protocol,
}

/// A cell that has no number, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Which scenario.
    pub scenario: String,
    /// Who.
    pub implementation: String,
    /// The second entry of the same implementation.
    pub placebo: bool,
    /// A copy slowed on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowed_percent: Option<u32>,
    /// Generation of child processes.
    pub fork: u32,
    /// Round, where it had begun.
    pub round: Option<u32>,
    /// What kind.
    pub kind: FailureKind,
    /// What was seen, in a sentence.
    pub message: String,
}

/// Every entry of that scenario has had its window, or its failure, in this round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Which scenario.
    pub scenario: String,
    /// Generation of child processes.
    pub fork: u32,
    /// Round within the run of this scenario.
    pub round: u32,
}

/// What a contestant allocates, counted in a process of its own, in which nothing was timed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    /// Which scenario.
    pub scenario: String,
    /// Who.
    pub implementation: String,
    /// Operations between the edges of its window.
    pub operations: u64,
    /// Allocations between the edges; divided by the operations, what each costs.
    pub allocations: u64,
    /// What was allocated between the edges, bytes.
    pub bytes: u64,
    /// The most that was held at once between the edges, above what was held at the first, bytes.
    pub peak_live_bytes: u64,
}

/// How quiet the machine was: also the line that `noise --format json` prints.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Runnable processes over the last minute.
    pub load_1m: Option<f64>,
    /// Share of time that the hypervisor gave to others, 0 to 1.
    pub steal: Option<f64>,
    /// Share of time that other processes used the cores while this one only watched, 0 to 1.
    pub busy: Option<f64>,
    /// Spread of a fixed piece of work timed over and over: (p90 - p10) / p50.
    pub spread: Option<f64>,
    /// 0 silent to 100 unusable.
    pub score: u32,
    /// Whether `--strict` would go on.
    pub quiet: bool,
}

/// Whether a claim of a seed text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// What was seen is what the text says.
    Yes,
    /// It is not, on purpose: the note names the statement that wants it so.
    Differs,
    /// It is not, and nobody says why.
    No,
    /// The original that the text speaks of does something else than its text: it is another version.
    Version,
    /// The text contradicts itself.
    Inconsistent,
}

/// A claim of a seed text as an implementation re-enacts it: also the line that `claims --format json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedClaim {
    /// The text's file.
    pub seed: String,
    /// What it claims, in short.
    pub claim: String,
    /// Who re-enacts it.
    pub implementation: String,
    /// Where that comes from.
    pub origin: Origin,
    /// The text's own words or figure.
    pub expected: String,
    /// What the implementation did.
    pub seen: String,
    /// Whether the two agree.
    pub holds: Holds,
    /// How it was re-enacted, and why it differs, where there is something to say.
    pub note: Option<String>,
}

/// A mutant, and what one property made of it: also the line that `mutants --format json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attack {
    /// The implementation that is broken on purpose.
    pub mutant: String,
    /// What it does wrong; few have the same.
    pub family: String,
    /// Different and correct: nobody may find anything.
    pub equivalent: bool,
    /// Whether it was found.
    pub killed: bool,
    /// What came of it, in the world that found it, or in the last one where none did.
    pub verdict: Verdict,
    /// Which property looked.
    pub by: String,
    /// The world that found it, if one did.
    pub world: Option<String>,
    /// The check that found it, by its place; none where the world itself did, as a deadlock, and where none did.
    pub check: Option<String>,
    /// Executions in all worlds together.
    pub executions: u64,
    /// Seconds in all worlds together.
    pub seconds: f64,
    /// What was seen, in words.
    pub detail: Option<String>,
}

/// The run came to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Wall time of all its parts, seconds.
    pub seconds: f64,
    /// Windows timed.
    pub windows: u64,
    /// Cells without a number.
    pub failures: u64,
    /// Scenarios that were dropped for want of time, in their order.
    #[serde(default)]
    pub dropped: Vec<String>,
}
