//! What was checked: properties, mutants, and claims of seed texts.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use flowmeter_harness::caps::Origin;

/// Outcome of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It held in every execution.
    Pass,
    /// A counterexample was found.
    Fail,
    /// The implementation does not claim it, and has not what its models need.
    Unclaimed,
    /// The implementation does not claim it, and a counterexample was found. It is no failure.
    NotPromisedBroken,
    /// The implementation does not claim it, and a short look found no counterexample. It is no pass.
    NotPromisedUnbroken,
    /// It cannot run in this world.
    NotInstrumentable,
    /// Undecided: the budget ended before the search, or the judge had no answer to some of what it saw.
    Inconclusive,
    /// A failure: the check did not answer in time, and neither did two repetitions without other load.
    Hung,
    /// The check itself failed: no process, an unreadable answer.
    Error,
}

impl Verdict {
    /// What this verdict means of a property that the implementation does not claim. `explored` tells whether any
    /// execution was seen.
    #[must_use]
    pub const fn not_promised(self, explored: bool) -> Verdict {
        match self {
            Verdict::Fail | Verdict::Hung => Verdict::NotPromisedBroken,
            Verdict::Pass | Verdict::Inconclusive if explored => Verdict::NotPromisedUnbroken,
            Verdict::Pass | Verdict::Inconclusive => Verdict::Unclaimed,
            other => other,
        }
    }

    /// Whether it is about a property that the implementation does not claim.
    pub const fn is_not_promised(self) -> bool {
        matches!(
            self,
            Verdict::Unclaimed | Verdict::NotPromisedBroken | Verdict::NotPromisedUnbroken
        )
    }
}

/// How far a cell was explored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// How many cases it has.
    pub cases: u64,
    /// Executions of the case that had the fewest.
    pub fewest: u64,
    /// The maximum of executions of a case; none if only time or the end of the space ends it.
    pub executions: Option<u64>,
    /// How often a thread may be preempted, in a world that bounds it.
    pub preemptions: Option<u64>,
    /// Seed of random choices; the first of them, if there were several.
    pub seed: u64,
    /// How many seeds there were, one after the other.
    #[serde(default = "one")]
    pub seeds: u64,
}

/// The number of seeds in runs that do not say it.
fn one() -> u64 {
    1
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |count: u64| if count == 1 { "" } else { "s" };
        write!(f, "{} case{}", self.cases, s(self.cases))?;
        write!(f, ", {} execution{} of each", self.fewest, s(self.fewest))?;
        match self.executions {
            Some(most) if most > self.fewest => write!(f, " at least and {most} at most")?,
            Some(_) => {}
            None => f.write_str(" at least")?,
        }
        if let Some(preemptions) = self.preemptions {
            write!(f, ", within {preemptions} preemption{}", s(preemptions))?;
        }
        match self.seeds {
            1 => write!(f, ", seed {}", self.seed),
            seeds => write!(f, ", {seeds} seeds from {} on", self.seed),
        }
    }
}

/// A property checked on an implementation in a world: also the line that `check --format json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// The implementation.
    pub implementation: String,
    /// Id of SEMANTICS.md and name, such as `c2-order`.
    pub property: String,
    /// `std`, `loom`, `shuttle` or `sim`.
    pub world: String,
    /// Outcome.
    pub verdict: Verdict,
    /// Whether every execution of every model was explored, within the world's bounds. Models of generated programs are
    /// a sample.
    pub complete: bool,
    /// How many executions.
    pub executions: u64,
    /// How long it took.
    pub seconds: f64,
    /// Where the counterexample lies.
    pub counterexample: Option<PathBuf>,
    /// What was observed, in a sentence, when it did not pass.
    #[serde(default)]
    pub detail: Option<String>,
    /// The command that reproduces it.
    pub replay: Option<String>,
    /// How far it was explored. None if nothing was, and in older runs.
    #[serde(default)]
    pub bound: Option<Bound>,
}

/// A mutant and the result of one property on it: also the line that `mutants --format json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attack {
    /// The implementation that is broken on purpose.
    pub mutant: String,
    /// The kind of fault; few mutants share one.
    pub family: String,
    /// Different but correct: no property may fail.
    pub equivalent: bool,
    /// Whether the fault was found.
    pub killed: bool,
    /// The result in the world that found it, or in the last one if none did.
    pub verdict: Verdict,
    /// The property.
    pub by: String,
    /// The world that found it, if one did.
    pub world: Option<String>,
    /// The check that found it, by its place. None if the world itself found it, such as a deadlock, or if none did.
    pub check: Option<String>,
    /// Executions in all worlds together.
    pub executions: u64,
    /// Seconds in all worlds together.
    pub seconds: f64,
    /// What was observed, in words.
    pub detail: Option<String>,
}

/// Whether a claim of a seed text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// The observation agrees with the text.
    Yes,
    /// It differs on purpose: the note names the statement that requires the difference.
    Differs,
    /// It differs without an explanation.
    No,
    /// The original that the text describes behaves differently from its text: it is another version.
    Version,
    /// The text contradicts itself.
    Inconsistent,
}

/// A claim of a seed text as an implementation reproduces it: also the line that `claims --format json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedClaim {
    /// The text's file.
    pub seed: String,
    /// The claim, in short.
    pub claim: String,
    /// The implementation.
    pub implementation: String,
    /// The origin of the implementation.
    pub origin: Origin,
    /// The text's own words or figure.
    pub expected: String,
    /// What the implementation did.
    pub seen: String,
    /// Whether the two agree.
    pub holds: Holds,
    /// How it was reproduced, and why it differs, where that needs explaining.
    pub note: Option<String>,
}
