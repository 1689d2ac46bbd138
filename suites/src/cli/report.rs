//! `report`: one HTML page.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use flowmeter_records::RunData;
use flowmeter_reports::Texts;

use super::failure::{Failure, Outcome};
use super::foreign::InRuns;
use super::output::Output;
use super::selection::runs;
use crate::claims::titles;
use crate::properties::PROPERTIES;

/// Write the report of one or several runs as one HTML page
///
/// Runs of one machine and one build are one sample; those of its earlier builds are shown in History. Machines are
/// shown beside each other, and nothing is averaged over them. Machines with equal descriptions are one. Copies of
/// one run with verdicts that were added separately (`check --shard k/n --into COPY`) are combined into one run.
#[derive(Debug, Args)]
pub(super) struct Report {
    /// Folders of runs [default: the latest below runs/]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    foreign: InRuns,
    /// The page to write [default: report.html in the folder of the run; required with several runs]
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Report {
    pub(super) fn run(self) -> Outcome {
        let runs = self.foreign.of(runs(&self.runs)?)?;
        let page = match (self.output, &runs[..]) {
            (Some(page), _) => page,
            (None, [run]) => page_of(run),
            (None, several) => {
                return Err(Failure::input(format!(
                    "name a page for {} runs with -o FILE; the page of the first run is not overwritten",
                    several.len()
                )));
            }
        };
        write(runs, &page)?;
        Output::default().line(&page.display().to_string());
        Ok(ExitCode::SUCCESS)
    }
}

/// The default path of a run's page.
pub(super) fn page_of(run: &RunData) -> PathBuf {
    run.folder.join("report.html")
}

/// Writes the page, or leaves an existing one. Links, pipes and devices (`/dev/stdout`) are written through.
pub(super) fn write(runs: Vec<RunData>, page: &Path) -> Result<(), Failure> {
    let html = flowmeter_reports::render_machines(&flowmeter_reports::machines(runs)?, &texts())?;
    let stands = fs::symlink_metadata(page);
    let is_file = |stands: &fs::Metadata| stands.is_file() || stands.is_dir();
    let written = match page.file_name() {
        Some(name) if stands.as_ref().map_or(true, is_file) => {
            let partial = format!(".{}.partial", name.to_string_lossy());
            replace(page, &page.with_file_name(partial), &html)
        }
        _ => fs::write(page, html),
    };
    written.map_err(|why| Failure::write(page, &why))
}

/// What the names of properties and articles mean in this build.
fn texts() -> Texts {
    let properties = PROPERTIES.iter();
    Texts {
        statements: properties.map(|it| (it.name, it.statement)).collect(),
        titles: titles(),
    }
}

/// Replaces the page atomically, so that no reader sees half of it.
fn replace(page: &Path, partial: &Path, html: &str) -> io::Result<()> {
    let done = fs::write(partial, html).and_then(|()| fs::rename(partial, page));
    if done.is_err() {
        // The error is about the page itself.
        let _ = fs::remove_file(partial);
    }
    done
}
