//! What timers owe, in each of the ways in which they can be waited for.

mod form;
mod log;
pub(super) mod t1_never_early;
pub(super) mod t2_once;
pub(super) mod t3_earlier;
pub(super) mod t4_extremes;
pub(super) mod t5_catch_up;
pub(super) mod t6_callbacks;
pub(super) mod t7_coalescing;
pub(super) mod t7_windows;
pub(super) mod t8_shutdown;

pub use form::{Called, Note};

// At the end: whoever reads sources for code stops where tests begin.
#[cfg(test)]
#[path = "../../../src/cli/new/timer/property.txt"]
#[allow(dead_code, reason = "it has to compile, and nobody owes it")]
mod begun;
