//! From an implementation and a workload to code that is compiled for both. This is the only place that distinguishes
//! kinds of workloads and messages, once for each stage.
//!
//! Each function answers for one family whether it can run a workload, which it finds out by asking the family, and
//! how.

pub(crate) mod channels;
pub(crate) mod executors;
pub(crate) mod limiters;
pub(crate) mod pipelines;
pub(crate) mod timers;

use std::time::Duration;

use flowmeter_harness::registry::Registered;
use flowmeter_measure::{Stage, StageError};

use super::solo::{Alone, Solo, time};

/// A workload about to run, or why it does not.
pub type Staged = Result<Box<dyn Stage>, StageError>;

/// Runs so many turns and returns how long they took.
pub type Timing = Box<dyn FnMut(u64) -> Result<Duration, StageError>>;

/// A family in a workload: nothing has been started yet.
pub struct Part {
    /// The workload about to run, by that implementation.
    pub stage: Box<dyn FnOnce(&Registered) -> Staged>,
    /// A workload of a single thread, for criterion.
    pub timing: Option<Box<dyn FnOnce() -> Result<Timing, StageError>>>,
}

impl Part {
    /// For several threads or tasks.
    fn new(stage: impl FnOnce(&Registered) -> Staged + 'static) -> Part {
        Part {
            stage: Box::new(stage),
            timing: None,
        }
    }

    /// For one thread that counts while others work for it.
    fn counted<S: Solo + 'static>(solo: impl FnOnce() -> Result<S, StageError> + 'static) -> Part {
        Part::new(|_| Ok(Box::new(Alone(solo()?))))
    }

    /// For a single thread.
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
