//! Why a verb failed: one sentence and an exit code.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use flowmeter_measure::MeasureError;
use flowmeter_records::RecordError;
use flowmeter_reports::ReportError;
use flowmeter_reports::statistics::StatisticsError;

use super::output::clean;
use crate::proving::counterexample::CounterexampleError;
use crate::scenario::ScenarioError;

/// A property failed.
pub(super) const FAILED: u8 = 1;
/// Bad usage or bad input.
const BAD_INPUT: u8 = 2;
/// Too noisy under `--strict`.
pub(super) const NOISY: u8 = 3;

/// The error of a verb that cannot continue.
#[derive(Debug)]
pub(super) struct Failure {
    code: u8,
    sentence: String,
}

/// The result of a verb.
pub(super) type Outcome = Result<ExitCode, Failure>;

impl Failure {
    /// Bad usage or bad input; the sentence says what, where, and what to do.
    pub(super) fn input(sentence: impl Into<String>) -> Failure {
        Failure {
            code: BAD_INPUT,
            sentence: sentence.into(),
        }
    }

    /// The same, with more at the end of its sentence.
    pub(super) fn and(mut self, more: &str) -> Failure {
        self.sentence.push_str(more);
        self
    }

    /// A file that cannot be written.
    pub(super) fn write(path: &Path, why: &io::Error) -> Failure {
        Failure::input(format!(
            "{}: {why}; name a place that can be written",
            path.display()
        ))
    }

    /// Prints it, and returns the exit code.
    pub(super) fn tell(self) -> ExitCode {
        self.warn();
        ExitCode::from(self.code)
    }

    /// Prints it, where the verb can continue.
    pub(super) fn warn(&self) {
        warn(&self.sentence);
    }
}

/// A sentence on the standard error, which may quote a record.
pub(super) fn warn(sentence: &str) {
    // If stderr is closed, the exit code or the records still report it.
    let _ = writeln!(anstream::stderr(), "flowmeter: {}", clean(sentence));
}

fn bad(why: impl Display) -> Failure {
    Failure::input(why.to_string())
}

impl From<RecordError> for Failure {
    fn from(why: RecordError) -> Failure {
        bad(why)
    }
}

impl From<ReportError> for Failure {
    fn from(why: ReportError) -> Failure {
        bad(why)
    }
}

impl From<StatisticsError> for Failure {
    fn from(why: StatisticsError) -> Failure {
        bad(why)
    }
}

impl From<ScenarioError> for Failure {
    fn from(why: ScenarioError) -> Failure {
        bad(why)
    }
}

impl From<CounterexampleError> for Failure {
    fn from(why: CounterexampleError) -> Failure {
        bad(why)
    }
}

impl From<MeasureError> for Failure {
    fn from(why: MeasureError) -> Failure {
        let code = if matches!(why, MeasureError::Noisy(_)) {
            NOISY
        } else {
            BAD_INPUT
        };
        Failure {
            code,
            sentence: why.to_string(),
        }
    }
}
