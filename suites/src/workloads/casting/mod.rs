//! From an implementation and a workload to code that is compiled for both: the one place where kinds of
//! workloads and messages are told apart, once for each stage.

mod channels;
mod executors;
mod limiters;
mod pipelines;
mod timers;

use std::time::Duration;

use flowmeter_harness::measure::{Stage, StageError};
use flowmeter_harness::registry::Contestant;

use super::Work;
use super::solo::{Solo, time};

/// A workload about to be run, or why it is not.
pub type Staged = Result<Box<dyn Stage>, StageError>;

/// Runs so many turns and says how long they took.
pub type Timing = Box<dyn FnMut(u64) -> Result<Duration, StageError>>;

/// What one family can play in, as functions compiled for it.
#[derive(Clone, Copy, Debug)]
pub struct Casting {
    /// Whether it can run a workload, found out by asking the family.
    pub takes_part: fn(&Work) -> bool,
    /// The workload about to be run, by that contestant.
    pub stage: fn(&Work, &Contestant) -> Staged,
    /// A workload of a single thread, for criterion.
    pub timing: fn(&Work) -> Option<Result<Timing, StageError>>,
}

fn timing<S: Solo + 'static>(solo: Result<S, StageError>) -> Result<Timing, StageError> {
    let mut solo = solo?;
    Ok(Box::new(move |turns| time(&mut solo, turns)))
}
