//! The one schema of a run: what the engine appends and everything else reads.
//!
//! A run is a folder. `records.jsonl` in it holds one [`Record`] a line, appended and never rewritten
//! (a resumed run cuts off a torn last line and an unfinished round first). The first line is the
//! [`Run`]; scenarios and implementations come before the first record that names them. Readers ignore
//! keys and records they do not know, so that a newer writer does not break an older reader; a new
//! meaning of an old key raises [`SCHEMA`].
#![doc = include_str!("../record.md")]

mod findings;
mod proof;
mod read;
mod run;
mod scenario;
mod timeline;
mod window;

use serde::{Deserialize, Serialize};

pub use self::findings::{Excess, Fairness, Findings, InFlight, Lateness, WarmUp};
pub use self::proof::{Attack, Holds, Proof, SeedClaim, Verdict};
pub use self::read::{RecordError, RunData, read_records, read_run};
pub use self::run::{End, Implementation, Machine, Noise, Run};
pub use self::scenario::{Axes, Better, Measure, Scenario};
pub use self::timeline::{Span, Step, Timeline};
pub use self::window::{Allocation, Failure, FailureKind, Latency, Round, Uncontended, Window};

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
