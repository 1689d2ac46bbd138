//! Claims of the seed texts: expected beside observed.

use std::collections::BTreeMap;

use flowmeter_records::{Holds, RunData, SeedClaim};

use crate::claims::{Alike, alike, word};
use crate::texts::Texts;

/// A seed text.
pub struct Text {
    pub file: String,
    /// Its title; the file if that is unknown.
    pub title: String,
    pub rows: Vec<Row>,
}

/// A claim, and the implementations with the same observation.
pub struct Row {
    pub claim: String,
    pub expected: String,
    pub names: String,
    /// The origins of the implementations.
    pub origin: String,
    pub seen: String,
    /// For the badge's colour.
    pub kind: &'static str,
    pub holds: &'static str,
    pub note: String,
}

/// From all runs. For each claim and implementation the last row counts.
pub fn of<'a>(runs: impl Iterator<Item = &'a RunData>, texts: &Texts) -> Vec<Text> {
    let rows: Vec<&SeedClaim> = runs.flat_map(|run| &run.seed_claims).collect();
    let key = |row: &'_ SeedClaim| {
        let claim = (row.seed.clone(), row.claim.clone());
        (claim, row.implementation.clone())
    };
    let last: BTreeMap<_, usize> = (rows.iter().enumerate())
        .map(|(at, row)| (key(row), at))
        .collect();
    let mut counting: Vec<usize> = last.into_values().collect();
    // Claims in the order in which they first appeared, whichever row of them counts.
    let first = |at: &usize| {
        let same =
            |row: &&SeedClaim| (&row.seed, &row.claim) == (&rows[*at].seed, &rows[*at].claim);
        rows.iter().position(same)
    };
    counting.sort_by_key(|at| (first(at), *at));
    let all = alike(counting.into_iter().map(|at| rows[at]));
    let mut told: Vec<Text> = Vec::new();
    for one in &all {
        match told.iter_mut().find(|text| text.file == one.row.seed) {
            Some(text) => text.rows.push(row(one)),
            None => told.push(Text {
                file: one.row.seed.clone(),
                title: texts.title(&one.row.seed).to_owned(),
                rows: vec![row(one)],
            }),
        }
    }
    told
}

fn row(Alike { row, names }: &Alike) -> Row {
    Row {
        claim: row.claim.clone(),
        expected: row.expected.clone(),
        names: names.join(", "),
        origin: row.origin.to_string(),
        seen: row.seen.clone(),
        kind: match row.holds {
            Holds::Yes => "pass",
            Holds::No => "fail",
            Holds::Differs | Holds::Version | Holds::Inconsistent => "none",
        },
        holds: word(row.holds),
        note: row.note.clone().unwrap_or_default(),
    }
}
