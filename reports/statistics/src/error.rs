//! Why records have no statistics.

use std::path::PathBuf;

/// Why records have no statistics. Each error names the file or record, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum StatisticsError {
    /// There is nothing to report on.
    #[error("no run was named; name the folder of at least one run")]
    NoRuns,
    /// A file cannot be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file of estimates is not one of this build.
    #[error("{}: not a file of estimates of this build ({reason}); delete it, and it is computed again", .path.display())]
    Estimates {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Two runs mean different things by one name.
    #[error("the scenario {scenario} is not the same in {} and {}; report on them separately", .one.display(), .other.display())]
    Clash {
        /// Which scenario.
        scenario: String,
        /// A run.
        one: PathBuf,
        /// Another run.
        other: PathBuf,
    },
    /// A histogram cannot be read.
    #[error("{}: the {which} histogram of {implementation} in {scenario}, round {round}, is not hdrhistogram V2 in base64 ({reason}); measure again", .path.display())]
    Histogram {
        /// Which file.
        path: PathBuf,
        /// Which scenario.
        scenario: String,
        /// The implementation.
        implementation: String,
        /// Which round.
        round: u32,
        /// `response` or `service`.
        which: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}
