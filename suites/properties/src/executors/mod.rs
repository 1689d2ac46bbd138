//! The properties of executors, a file for each. Tasks wait on the channels that the registry names.

pub(super) mod g1_go;
pub(super) mod g1_shutdown;
pub(super) mod g1_thread_ends;
pub(super) mod g2_blocked;
pub(super) mod g2_parking;
pub(super) mod g2_turns;
pub(super) mod g3_state_machines;
pub(super) mod g5_bindings;
pub(super) mod wakers;

use std::num::NonZeroUsize;

use super::{Case, Cases, Property, Reliance};
use crate::design::executors::{Design, Runtime, What};

/// The number of threads of a model's executor, unless it says otherwise.
const ONE: NonZeroUsize = NonZeroUsize::MIN;

// At the end: the scan of the sources for checks stops at the first `cfg(test)`.
#[cfg(test)]
#[path = "../../../src/cli/new/executor/property.txt"]
#[allow(dead_code, reason = "it has to compile, and no implementation owes it")]
mod begun;
