//! Runs that timed two builds side by side: how these differ.

use flowmeter_records::RunData;

use crate::statistics::{Call, RELEVANT, StatisticsError, paired};
use crate::terminal::{Told, given_up, in_order, paired_sentence};

/// A run of two builds.
pub struct Builds {
    pub heading: &'static str,
    /// What the cells amount to, and what the base build gives up.
    pub sentences: Vec<String>,
    pub rows: Vec<Row>,
}

/// A cell.
pub struct Row {
    pub scenario: String,
    pub implementation: String,
    pub told: Told,
    /// How its verdict is coloured.
    pub kind: &'static str,
}

/// All of them, in the order of the runs.
///
/// # Errors
/// As those of other statistics.
pub fn of(runs: &[RunData]) -> Result<Vec<Builds>, StatisticsError> {
    let of_two = runs.iter().filter(|run| run.run.against.is_some());
    let of_one = |run: &RunData| {
        let paired = paired(run, RELEVANT)?;
        let mut sentences = vec![paired_sentence(&paired)];
        sentences.extend(given_up(&paired));
        let rows = in_order(&paired).into_iter().map(|pair| Row {
            scenario: pair.scenario.clone(),
            implementation: pair.implementation.clone(),
            told: Told::of(pair),
            kind: match pair.verdict {
                Call::Slower | Call::Lost => "fail",
                Call::Faster | Call::Gained => "pass",
                Call::Level | Call::Undecided | Call::NoNumber => "quiet",
            },
        });
        Ok(Builds {
            heading: match paired.without.is_empty() {
                true => "Two builds",
                false => "What promises cost",
            },
            rows: rows.collect(),
            sentences,
        })
    };
    of_two.map(of_one).collect()
}
