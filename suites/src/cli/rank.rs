//! `rank`: the distance of each implementation from the best, over all cells of a group.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::failure::Outcome;
use super::foreign::InRuns;
use super::output::{Format, Output, style, width};
use super::selection::{Implementations, runs};
use super::standings::{On, Standing, standings};

/// Rank implementations by the geometric mean of their ratios to the best of each cell
///
/// The runs of the latest build on one machine are combined, and machines stay separate.
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
        let mut output = Output::default();
        for Standing {
            machine,
            mut estimates,
        } in standings(runs)?
        {
            let matches = |name: &str| self.implementations.matches(name);
            estimates.cells.retain(|cell| matches(&cell.implementation));
            for ranking in &mut estimates.rankings {
                ranking.ranks.retain(|rank| matches(&rank.implementation));
            }
            match self.format {
                Format::Table => {
                    machine.iter().for_each(|name| output.line(name));
                    output.line(&flowmeter_reports::rank_table(&estimates, width(), style()));
                }
                Format::Json => flowmeter_reports::rank_rows(&estimates)
                    .iter()
                    .for_each(|row| {
                        output.json(&On {
                            machine: machine.as_deref(),
                            row,
                        })
                    }),
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
