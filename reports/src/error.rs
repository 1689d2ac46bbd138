//! Why a report cannot be made.

use flowmeter_records::RecordError;
use flowmeter_statistics::StatisticsError;

/// Why a report cannot be made. Each error names the file or record, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A run cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The records of the runs have no statistics.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    /// The page cannot be put together.
    #[error("the page cannot be put together: {0}")]
    Template(#[from] askama::Error),
    /// A chart cannot be drawn.
    #[error("the chart of {chart} cannot be drawn: {reason}")]
    Chart {
        /// Which one.
        chart: String,
        /// The error of the drawing library.
        reason: String,
    },
}
