//! Why a run cannot be measured. A failing implementation is not an error: it becomes a row.

use std::path::PathBuf;

use flowmeter_records::{Noise, RecordError};

/// Why a run cannot be measured. Each message says what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The plan is empty or impossible.
    #[error("{0}")]
    Plan(String),
    /// The folder or its file of records cannot be made, read or written.
    #[error("{}: {source}; name a folder that can be written", .path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The folder holds a run, which must not be overwritten.
    #[error("{}: holds a run already; continue it with --resume, or name another folder", .path.display())]
    Exists {
        /// Which folder.
        path: PathBuf,
    },
    /// There is no run to be continued.
    #[error("{}: holds no run to resume; measure without --resume first", .path.display())]
    NothingToResume {
        /// Which folder.
        path: PathBuf,
    },
    /// Another process appends to the same records.
    #[error("{}: another process is measuring into it just now; wait for it, or name another folder", .path.display())]
    Busy {
        /// Which folder.
        path: PathBuf,
    },
    /// The run in the folder is not the one that was asked for.
    #[error("{}: the run in it has {what} {recorded}, and this one asks for {planned}; resume with what it was begun with, or name another folder", .path.display())]
    Differs {
        /// Which folder.
        path: PathBuf,
        /// In what.
        what: &'static str,
        /// As the run was begun.
        recorded: String,
        /// As it was asked for now.
        planned: String,
    },
    /// The records cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The machine is not quiet and the plan is strict.
    #[error("too noisy to measure strictly (score {} of 100); stop other work on this machine, or leave out --strict", .0.score)]
    Noisy(Noise),
}
