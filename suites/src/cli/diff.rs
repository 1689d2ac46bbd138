//! `diff`: what changed from one run to another.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use flowmeter_reports::{Change, Verdict};

use super::failure::{FAILED, Failure, Outcome, warn};
use super::foreign::InRuns;
use super::output::{Format, Output, style, width};
use super::selection::{Implementations, ScenarioNames, runs};

/// Show what changed from one run to another on the same machine
///
/// A cell is compared by its value relative to the controls of its round, which cannot have changed: published crates
/// of the same version, and references. So a slower machine changes nothing. A scenario with fewer than three
/// controls is not judged. To detect a change of a tenth in one cell of a hundred, two runs of ten forks of three
/// rounds with windows of 100 ms are needed (measure --forks 10 --rounds 3 --window 100). With windows of 20 ms most
/// such changes are visible but not called. Runs of fewer than five forks, or ten rounds in all, are never judged
/// (METHODOLOGY.md has the figures). A cell that fails now and had a number before is a regression, except among the
/// controls.
#[derive(Debug, Args)]
pub(super) struct Diff {
    /// Folder of the earlier run
    base: PathBuf,
    /// Folder of the later run
    new: PathBuf,
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    foreign: InRuns,
    #[command(flatten)]
    scenarios: ScenarioNames,
    /// Smallest change to report, percent
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    threshold: f64,
    /// Exit with 1 if a selected cell has this change, with 2 if these runs can judge none of them
    #[arg(long, value_name = "CHANGE")]
    fail_on: Option<FailOn>,
    /// Show unchanged cells as well
    #[arg(long)]
    all: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The conditions that a script can request.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum FailOn {
    /// A cell is slower than before, or has lost its number
    Regression,
}

impl Diff {
    pub(super) fn run(self) -> Outcome {
        if !(0.0..=1000.0).contains(&self.threshold) {
            return Err(Failure::input(format!(
                "--threshold {}: give percent from 0 to 1000",
                self.threshold
            )));
        }
        let runs = self.foreign.of(runs(&[self.base, self.new])?)?;
        let names = runs.iter().flat_map(|run| run.scenarios.keys());
        self.scenarios.find_in(names.map(String::as_str))?;
        let names = runs.iter().flat_map(|run| run.implementations.keys());
        self.implementations.find_in(names.map(String::as_str))?;
        let runs = runs.try_into().expect("two were asked for");
        let mut diff = flowmeter_reports::diff(&runs, self.threshold / 100.0)?;
        diff.changes.retain(|change| {
            self.scenarios.matches(&change.scenario)
                && self.implementations.matches(&change.implementation)
        });
        if let (Some(FailOn::Regression), Some(why), false) =
            (self.fail_on, &diff.unjudged, diff.is_comparable)
        {
            return Err(Failure::input(format!(
                "--fail-on regression: {why}; compare runs of one machine, measured without --quick"
            )));
        }
        if self.fail_on.is_some() {
            told_apart(&diff)?;
        }
        let mut output = Output::default();
        match self.format {
            Format::Table => {
                output.line(&flowmeter_reports::diff_table(
                    &diff,
                    self.all,
                    width(),
                    style(),
                ));
            }
            Format::Json => diff.changes.iter().for_each(|change| output.json(change)),
        }
        let regressed = diff.changes.iter().any(|c| c.verdict.is_regression());
        Ok(match self.fail_on {
            Some(FailOn::Regression) if regressed => ExitCode::from(FAILED),
            _ => ExitCode::SUCCESS,
        })
    }
}

/// Reports how many cells were not judged. Refuses when none was: then the comparison shows nothing.
fn told_apart(diff: &flowmeter_reports::Diff) -> Result<(), Failure> {
    let is_silent = |change: &&Change| {
        matches!(
            change.verdict,
            Verdict::Unjudged | Verdict::OnlyBase | Verdict::OnlyNew
        )
    };
    let silent = diff.changes.iter().filter(is_silent).count();
    let of = match diff.changes.len() {
        1 => "1 cell".to_owned(),
        n => format!("{n} cells"),
    };
    if silent < diff.changes.len() {
        warn(&format!(
            "--fail-on regression: {silent} of {of} not judged"
        ));
        return Ok(());
    }
    let why = diff.changes.iter().find_map(|change| change.why.as_deref());
    let why = why.map_or_else(String::new, |why| format!(" ({why})"));
    Err(Failure::input(format!(
        "--fail-on regression: {silent} of {of} not judged{why}, so these runs cannot tell; compare whole runs that \
         share more implementations"
    )))
}
