//! `report`: one HTML page.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use flowmeter_harness::record::RunData;

use super::failure::{Failure, Outcome};
use super::foreign::InRuns;
use super::output::Output;
use super::selection::runs;

/// Write the report of one or several runs as one HTML page
///
/// Runs of one machine and one build are one sample; those of its earlier builds are told in History. Machines stand
/// beside each other, and nothing is averaged over them; those that describe themselves alike are one. Copies of one run
/// that have had verdicts added to them apart (`check --shard k/n --into COPY`) are one run with all of these.
#[derive(Debug, Args)]
pub(super) struct Report {
    /// Folders of runs [default: the latest below runs/]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    foreign: InRuns,
    /// The page to write [default: report.html in the folder of the first run]
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Report {
    pub(super) fn run(self) -> Outcome {
        let runs = self.foreign.of(runs(&self.runs)?)?;
        let page = self.output.unwrap_or_else(|| page_of(&runs[0]));
        write(runs, &page)?;
        Output::default().line(&page.display().to_string());
        Ok(ExitCode::SUCCESS)
    }
}

/// Where the page of a run stands unless told otherwise.
pub(super) fn page_of(run: &RunData) -> PathBuf {
    run.folder.join("report.html")
}

/// Writes the page, or leaves what stood there.
pub(super) fn write(runs: Vec<RunData>, page: &Path) -> Result<(), Failure> {
    let html = flowmeter_reports::render_machines(&flowmeter_reports::machines(runs)?)?;
    std::fs::write(page, html).map_err(|why| Failure::write(page, &why))
}
