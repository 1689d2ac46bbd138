//! From an implementation and a workload to code that is compiled for both: the one place where kinds of
//! workloads and messages are told apart, once for each stage.
//!
//! Each function answers for one family whether it can run a workload, found out by asking the family, and how.

pub(crate) mod channels;
pub(crate) mod executors;
pub(crate) mod limiters;
pub(crate) mod pipelines;
pub(crate) mod timers;

use std::time::Duration;

use flowmeter_harness::measure::{Stage, StageError};
use flowmeter_harness::registry::Contestant;

use super::solo::{Alone, Solo, time};

/// A workload about to be run, or why it is not.
pub type Staged = Result<Box<dyn Stage>, StageError>;

/// Runs so many turns and says how long they took.
pub type Timing = Box<dyn FnMut(u64) -> Result<Duration, StageError>>;

/// A family in a workload: nothing has been started yet.
pub struct Part {
    /// The workload about to be run, by that contestant.
    pub stage: Box<dyn FnOnce(&Contestant) -> Staged>,
    /// A workload of a single thread, for criterion.
    pub timing: Option<Box<dyn FnOnce() -> Result<Timing, StageError>>>,
}

impl Part {
    /// Of several threads or tasks.
    fn new(stage: impl FnOnce(&Contestant) -> Staged + 'static) -> Part {
        Part {
            stage: Box::new(stage),
            timing: None,
        }
    }

    /// Counted by one thread, for which others work.
    fn counted<S: Solo + 'static>(solo: impl FnOnce() -> Result<S, StageError> + 'static) -> Part {
        Part::new(|_| Ok(Box::new(Alone(solo()?))))
    }

    /// Of a single thread.
    fn solo<S: Solo + 'static>(
        solo: impl FnOnce() -> Result<S, StageError> + Copy + 'static,
    ) -> Part {
        Part {
            timing: Some(Box::new(move || {
                let mut solo = solo()?;
                Ok(Box::new(move |turns| time(&mut solo, turns)))
            })),
            ..Part::counted(solo)
        }
    }
}
