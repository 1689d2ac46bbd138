//! `corpus`: whether the properties find known faults of published crates.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Args;
use regex::Regex;

use super::checkout::checkout;
use super::failure::{Failure, Outcome};

/// What asks the rows, below a checkout.
const SCRIPT: &str = "scripts/corpus";

/// Ask the properties about releases of published crates with a known fault
///
/// Each release, and the one that put it right, is compiled as a twin with its sources untouched, and explored in the
/// worlds shuttle and sim. A row is found where a property fails on the bad release and holds on the other. A row takes
/// about a minute, most of it for the compiler; all fifty take an hour on two cores. The exit code is 1 if a release was not
/// built or could not be asked; a row that is not found is no failure. docs/corpus.md has the rows. This needs a checkout
/// of Flowmeter and Python 3.
#[derive(Debug, Args)]
pub(super) struct Corpus {
    /// Only the rows with these numbers
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    row: Vec<u32>,
    /// Only properties with a name that matches
    #[arg(short = 'p', long = "property", value_name = "REGEX")]
    property: Option<Regex>,
    /// Time for all properties of a release
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    budget: u32,
    /// Most executions of each case
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..))]
    executions: u32,
    /// Also write each row to this file, as a line of JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Corpus {
    pub(super) fn run(self) -> Outcome {
        let script = checkout("")?.join(SCRIPT);
        let mut asked = Command::new(&script);
        asked.args(["--budget", &self.budget.to_string()]);
        asked.args(["--executions", &self.executions.to_string()]);
        if !self.row.is_empty() {
            let rows: Vec<String> = self.row.iter().map(u32::to_string).collect();
            asked.args(["--row", &rows.join(",")]);
        }
        if let Some(property) = &self.property {
            asked.args(["--property", property.as_str()]);
        }
        if let Some(json) = &self.json {
            asked.arg("--json").arg(json);
        }
        let ended = asked.status().map_err(|why| {
            Failure::input(format!(
                "{} cannot be run: {why}; it needs Python 3",
                script.display()
            ))
        })?;
        // Its own sentence says why it failed.
        let code = ended.code().and_then(|code| u8::try_from(code).ok());
        Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
    }
}
