//! `rank`: who is how far from the best, over all cells of a group.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::failure::Outcome;
use super::foreign::InRuns;
use super::output::{Format, Output, style, width};
use super::selection::{Implementations, runs};

/// Rank implementations by the geometric mean of their ratios to the best of each cell
#[derive(Debug, Args)]
pub(super) struct Rank {
    /// Folders of runs [default: the latest below runs/]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    foreign: InRuns,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Rank {
    pub(super) fn run(self) -> Outcome {
        let runs = self.foreign.of(runs(&self.runs)?)?;
        let names = runs.iter().flat_map(|run| run.implementations.keys());
        self.implementations.find_in(names.map(String::as_str))?;
        let mut estimates = flowmeter_reports::estimates_of(&runs)?;
        for ranking in &mut estimates.rankings {
            let matches = |name: &str| self.implementations.matches(name);
            ranking.ranks.retain(|rank| matches(&rank.implementation));
        }
        let mut output = Output::default();
        match self.format {
            Format::Table => {
                output.line(&flowmeter_reports::rank_table(&estimates, width(), style()))
            }
            Format::Json => {
                flowmeter_reports::rank_rows(&estimates)
                    .iter()
                    .for_each(|row| output.json(row));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
