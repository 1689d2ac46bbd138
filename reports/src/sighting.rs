//! A cell in one run after the other: the output of `show`.

use std::slice;

use flowmeter_records::RunData;
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::html::commands;
use crate::number;
use crate::rows::CellRow;
use crate::statistics::{Estimates, estimates_of};

/// A cell in one run; a line of `show --format json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sighting {
    /// Folder of the run.
    pub run: String,
    /// When it was started, UTC.
    pub started: String,
    /// Its build.
    pub commit: String,
    /// Its number in that run.
    #[serde(flatten)]
    pub cell: CellRow,
    /// Complete rounds behind it; `null` without a number.
    pub rounds: Option<usize>,
    /// The command that measures the scenario again as this run did, with all its implementations.
    pub command: String,
}

/// A cell in all runs that have it, in their order.
///
/// # Errors
/// As [`estimates_of`].
pub fn sightings(
    runs: &[RunData],
    scenario: &str,
    implementation: &str,
) -> Result<Vec<Sighting>, ReportError> {
    let mut seen = Vec::new();
    for run in runs {
        if run.scenarios.contains_key(scenario) {
            let estimates = estimates_of(slice::from_ref(run))?;
            seen.extend(sighting(run, &estimates, scenario, implementation));
        }
    }
    Ok(seen)
}

fn sighting(
    run: &RunData,
    estimates: &Estimates,
    scenario: &str,
    implementation: &str,
) -> Option<Sighting> {
    let cell = estimates.cell(scenario, implementation)?;
    let names: Vec<&str> = run.scenarios.keys().map(String::as_str).collect();
    let command = commands(slice::from_ref(run), &[scenario.to_owned()], &names);
    Some(Sighting {
        run: run.folder.display().to_string(),
        started: run.run.started.clone(),
        commit: run.run.commit.clone(),
        cell: CellRow::of(cell),
        rounds: cell.measured().map(|m| m.rounds),
        command: command.into_iter().next().unwrap_or_default(),
    })
}

/// The same as a table; nothing in it is wider than `width` columns.
pub fn sighting_table(seen: &[Sighting], width: usize) -> String {
    let rows = seen.iter().map(|one| {
        let commit: String = one.commit.chars().take(12).collect();
        let cell = &one.cell;
        let (Some(median), Some(lo), Some(hi), Some(ratio)) =
            (cell.median, cell.lo, cell.hi, cell.ratio_to_best)
        else {
            let why = cell.error.clone().unwrap_or_default();
            return [
                one.started.clone(),
                commit,
                "no number".to_owned(),
                why,
                String::new(),
            ];
        };
        let bound = if cell.at_most { "≤ " } else { "" };
        [
            one.started.clone(),
            commit,
            format!("{bound}{}", number::value_with_unit(median, &cell.unit)),
            number::interval(lo, hi, &cell.unit),
            match cell.unproved {
                Some(_) => format!("{}, unproved", number::ratio(ratio)),
                None => number::ratio(ratio),
            },
        ]
    });
    let header = ["started", "build", "median", "95 % interval", "ratio"];
    crate::terminal::plain_table(header, rows, width)
}
