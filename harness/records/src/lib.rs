//! The one schema of a run: what the engine appends and everything else reads.
//!
//! A run is a folder. Its file `records.jsonl` holds one [`Record`] per line. It is only appended to; a resumed run
//! first cuts off a torn last line and an unfinished round. The first line is the [`Run`]. Scenarios and
//! implementations come before the first record that names them. Readers ignore unknown keys and records, so that a
//! newer writer does not break an older reader. A new meaning of an old key raises [`SCHEMA`].
//!
//! Choices that a run must repeat, such as its orders, come from [`hash`].
//!
#![doc = include_str!("record.md")]

mod findings;
pub mod hash;
mod modelled;
mod proof;
mod read;
mod run;
mod scenario;
mod timeline;
mod window;

use serde::{Deserialize, Serialize};

pub use self::findings::{Counters, Excess, Fairness, Findings, InFlight, Lateness, WarmUp};
pub use self::modelled::ModelledCost;
pub use self::proof::{Attack, Bound, Holds, Proof, SeedClaim, Verdict};
pub use self::read::{RecordError, RunData, read_records, read_run};
pub use self::run::{End, GivenUp, Implementation, Machine, Noise, Run, Topology};
pub use self::scenario::{Axes, Better, Measure, Scenario};
pub use self::timeline::{Span, Step, Timeline};
pub use self::window::{
    Allocation, Build, Failure, FailureKind, Latency, Round, Uncontended, Window,
};

/// Version of this schema; a reader refuses another one.
pub const SCHEMA: u32 = 1;

/// Name of the file of records in a run's folder.
pub const RECORDS_FILE: &str = "records.jsonl";

/// One line of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// First line: the request, the time, the build, the machine.
    Run(Box<Run>),
    /// An implementation in this run.
    Implementation(Implementation),
    /// A scenario of this run.
    Scenario(Scenario),
    /// A property checked before anything was timed.
    Proof(Proof),
    /// The uncontended cost of an operation, by criterion.
    Uncontended(Uncontended),
    /// One timed window: a cell in one round.
    Window(Window),
    /// A cell that has no result, and the reason.
    Failure(Failure),
    /// Every entry of that scenario has had its window (or failure) in this round.
    Round(Round),
    /// The allocations of an implementation, from a separate pass after the timed rounds.
    Allocation(Allocation),
    /// How quiet the machine was.
    Noise(Noise),
    /// A claim of a seed text, and what an implementation did.
    SeedClaim(SeedClaim),
    /// A mutant, and the result of a property on it.
    Mutant(Attack),
    /// What messages cost a channel under a fixed schedule.
    ModelledCost(ModelledCost),
    /// Last line of a complete run.
    End(End),
    /// A kind that this build does not know. It is never written, and skipped when read.
    #[serde(other)]
    Unknown,
}
