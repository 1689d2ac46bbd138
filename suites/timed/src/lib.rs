//! The std world of the command: the timed code, and its proofs.
//!
//! rustc reuses upstream monomorphizations: later crates use the copy of a generic function in the crate that named
//! it first, optimised or not. So all timed code is named here, in a crate without a model below it.
//! `flowmeter-models` is not optimised, and its copies must not be timed.

use std::process::ExitCode;

use flowmeter_impls::registry::Everybody;
use flowmeter_suites::cli;
use flowmeter_suites::worlds::Worlds;

/// Our implementations and their peers, in the std world.
#[must_use]
pub fn contestants() -> Worlds<Everybody> {
    Worlds::of(Everybody)
}

/// The command over them, in all of their worlds.
pub fn main_in(worlds: &Worlds<Everybody>) -> ExitCode {
    cli::main_in(worlds)
}
