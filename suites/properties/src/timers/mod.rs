//! The properties of timers, for each of the ways to wait for one.

mod form;
mod log;
pub(super) mod t1_never_early;
pub(super) mod t2_once;
pub(super) mod t2_sequences;
pub(super) mod t3_earlier;
pub(super) mod t4_extremes;
pub(super) mod t5_catch_up;
pub(super) mod t5_sequences;
pub(super) mod t6_callbacks;
pub(super) mod t7_coalescing;
pub(super) mod t7_windows;
pub(super) mod t8_shutdown;

pub use form::{Called, Note};

// At the end: the scan of the sources for checks stops at the first `cfg(test)`.
#[cfg(test)]
#[path = "../../../src/cli/new/timer/property.txt"]
#[allow(dead_code, reason = "it has to compile, and no implementation owes it")]
mod begun;
