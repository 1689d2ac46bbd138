//! `cmp`: the implementations of each scenario side by side.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use flowmeter_records::Better;

use super::failure::{Failure, Outcome};
use super::foreign::InRuns;
use super::output::{Output, style, width};
use super::selection::{Implementations, ScenarioNames, runs};
use super::standings::{On, Standing, standings};

/// Compare implementations scenario by scenario
///
/// The runs of the latest build on one machine are combined, and machines stay separate.
#[derive(Debug, Args)]
pub(super) struct Cmp {
    /// Folders of runs [default: the latest below runs/]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    foreign: InRuns,
    #[command(flatten)]
    scenarios: ScenarioNames,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// How cells are printed, for terminals and for other tools.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    /// A table for reading
    #[default]
    Table,
    /// One JSON object a line, with stable keys
    Json,
    /// Comma-separated values, for a spreadsheet
    Csv,
    /// github-action-benchmark's customBiggerIsBetter: the cells where more is better
    GithubBigger,
    /// github-action-benchmark's customSmallerIsBetter: the cells where less is better
    GithubSmaller,
    /// Bencher's metric format
    Bencher,
}

impl Cmp {
    pub(super) fn run(self) -> Outcome {
        let runs = self.foreign.of(runs(&self.runs)?)?;
        let names = runs.iter().flat_map(|run| run.scenarios.keys());
        self.scenarios.find_in(names.map(String::as_str))?;
        let names = runs.iter().flat_map(|run| run.implementations.keys());
        self.implementations.find_in(names.map(String::as_str))?;
        let standings = standings(runs)?;
        let exported = !matches!(self.format, Format::Table | Format::Json);
        if exported && standings.len() > 1 {
            return Err(Failure::input(format!(
                "these runs are of {} machines, which that format cannot tell apart; name the runs of one machine",
                standings.len()
            )));
        }
        let mut output = Output::default();
        for standing in standings {
            self.print(standing, &mut output);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn print(&self, standing: Standing, output: &mut Output) {
        let Standing {
            machine,
            mut estimates,
        } = standing;
        let cells = &mut estimates.cells;
        cells.retain(|cell| self.scenarios.matches(&cell.scenario));
        cells.retain(|cell| self.implementations.matches(&cell.implementation));
        match self.format {
            Format::Table => {
                machine.iter().for_each(|name| output.line(name));
                output.line(&flowmeter_reports::cmp_table(&estimates, width(), style()));
            }
            Format::Json => flowmeter_reports::cmp_rows(&estimates)
                .iter()
                .for_each(|row| {
                    output.json(&On {
                        machine: machine.as_deref(),
                        row,
                    })
                }),
            Format::Csv => output.line(flowmeter_reports::csv(&estimates).trim_end()),
            Format::GithubBigger => output.line(&flowmeter_reports::github_action_benchmark(
                &estimates,
                Better::Higher,
            )),
            Format::GithubSmaller => output.line(&flowmeter_reports::github_action_benchmark(
                &estimates,
                Better::Lower,
            )),
            Format::Bencher => output.line(&flowmeter_reports::bencher(&estimates)),
        }
    }
}
