//! `cmp`: the implementations of each scenario side by side.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::failure::Outcome;
use super::output::{Format, Output, style, width};
use super::selection::{Implementations, Scenarios, runs};

/// Compare implementations scenario by scenario
#[derive(Debug, Args)]
pub(super) struct Cmp {
    /// Folders of runs [default: the latest below runs/]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    implementations: Implementations,
    #[command(flatten)]
    scenarios: Scenarios,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Cmp {
    pub(super) fn run(self) -> Outcome {
        let estimates = flowmeter_reports::estimates_of(&runs(&self.runs)?)?;
        let mut rows = flowmeter_reports::cmp_rows(&estimates);
        rows.retain(|row| self.scenarios.matches(&row.scenario));
        if rows.is_empty() {
            return Err(self.scenarios.nothing());
        }
        rows.retain(|row| self.implementations.matches(&row.implementation));
        if rows.is_empty() {
            return Err(self.implementations.nothing());
        }
        let mut output = Output::default();
        match self.format {
            Format::Table => output.line(&flowmeter_reports::cmp_table(&rows, width(), style())),
            Format::Json => rows.iter().for_each(|row| output.json(row)),
        }
        Ok(ExitCode::SUCCESS)
    }
}
