//! What was checked: properties, mutants, and claims of seed texts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::caps::Origin;

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
    /// Undecided: the check gave no answer, nor in one at least of two repetitions alone.
    Hung,
    /// The check itself broke off: an abort, an unreadable answer.
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
