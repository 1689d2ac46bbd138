//! What is checked on executors: a file for each property. Tasks wait on the channels that the registry names.

pub(super) mod g1_go;
pub(super) mod g1_shutdown;
pub(super) mod g2_parking;
pub(super) mod g3_state_machines;
pub(super) mod g5_bindings;

use std::num::NonZeroUsize;

use super::{Case, Cases, Property, Reliance};
use crate::design::executors::{Design, Runtime, What};

/// How many threads a model's executor has, unless it says otherwise.
const ONE: NonZeroUsize = NonZeroUsize::MIN;

// At the end: whoever reads sources for code stops where tests begin.
#[cfg(test)]
#[path = "../../../src/cli/new/executor/property.txt"]
#[allow(dead_code, reason = "it has to compile, and nobody owes it")]
mod begun;
