//! A cell in one run after the other: what `show` tells.

use std::slice;

use flowmeter_harness::record::{Better, RunData};
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::html::commands;
use crate::number;
use crate::statistics::{Estimates, Standing, estimates_of};

/// A cell as one run has it; a line of `show --format json`. Without a number `error` says why, and numbers are `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sighting {
    /// Folder of the run.
    pub run: String,
    /// When it was started, UTC.
    pub started: String,
    /// Its build.
    pub commit: String,
    /// Which scenario.
    pub scenario: String,
    /// Who.
    pub implementation: String,
    /// Median, in `unit`.
    pub median: Option<f64>,
    /// Lower end of its interval.
    pub lo: Option<f64>,
    /// Upper end of its interval.
    pub hi: Option<f64>,
    /// Unit of the median.
    pub unit: String,
    /// Which way is up.
    pub better: Better,
    /// Against the best of the scenario in that run, at most 1 but for a reference.
    pub ratio_to_best: Option<f64>,
    /// Complete rounds behind it.
    pub rounds: Option<usize>,
    /// The median is a bound: the true one is at most that. Left out where it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// Why it has no number.
    pub error: Option<String>,
    /// What measures the scenario again as this run did, with everybody who took part.
    pub command: String,
}

/// A cell in those of the runs that have it, in their order.
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
    let measured = cell.measured();
    let names: Vec<&str> = run.scenarios.keys().map(String::as_str).collect();
    let command = commands(slice::from_ref(run), &[scenario.to_owned()], &names);
    Some(Sighting {
        run: run.folder.display().to_string(),
        started: run.run.started.clone(),
        commit: run.run.commit.clone(),
        scenario: scenario.to_owned(),
        implementation: implementation.to_owned(),
        median: measured.map(|m| m.median),
        lo: measured.map(|m| m.lo),
        hi: measured.map(|m| m.hi),
        unit: cell.unit.clone(),
        better: cell.better,
        ratio_to_best: measured.map(|m| m.ratio),
        rounds: measured.map(|m| m.rounds),
        at_most: measured.is_some_and(|m| m.standing == Standing::AtMost),
        error: cell.error(),
        command: command.into_iter().next().unwrap_or_default(),
    })
}

/// The same as a table; nothing in it is wider than `width` columns.
pub fn sighting_table(seen: &[Sighting], width: usize) -> String {
    let rows = seen.iter().map(|one| {
        let commit: String = one.commit.chars().take(12).collect();
        let (Some(median), Some(lo), Some(hi), Some(ratio)) =
            (one.median, one.lo, one.hi, one.ratio_to_best)
        else {
            let why = one.error.clone().unwrap_or_default();
            return [
                one.started.clone(),
                commit,
                "no number".to_owned(),
                why,
                String::new(),
            ];
        };
        let bound = if one.at_most { "≤ " } else { "" };
        [
            one.started.clone(),
            commit,
            format!("{bound}{}", number::value_with_unit(median, &one.unit)),
            number::interval(lo, hi, &one.unit),
            number::ratio(ratio),
        ]
    });
    let header = ["started", "build", "median", "95 % interval", "ratio"];
    crate::terminal::plain_table(header, rows, width)
}
