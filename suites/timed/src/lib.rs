//! The std world of the command: what is timed, and what proves it.
//!
//! A generic function is compiled where it is first named, and whoever comes after that crate takes it as it is there,
//! optimised or not. So whatever is timed is named here, in a crate that has no model below it: what stands in
//! `flowmeter-models` is not optimised, and would be what is timed.

use std::process::ExitCode;

use flowmeter_impls::registry::Everybody;
use flowmeter_suites::cli;
use flowmeter_suites::worlds::Worlds;

/// Our contestants and their peers, in the std world.
#[must_use]
pub fn contestants() -> Worlds<Everybody> {
    Worlds::of(Everybody)
}

/// The command over them, in whatever worlds they are.
pub fn main_in(worlds: &Worlds<Everybody>) -> ExitCode {
    cli::main_in(worlds)
}
