//! The `flowmeter` command over our own registry, in every world.

use std::process::ExitCode;

use flowmeter_harness::measure::allocation::Counting;
use flowmeter_impls::registry::Everybody;
use flowmeter_models::everywhere;
use flowmeter_suites::cli;
use flowmeter_suites::worlds::Worlds;

/// Counts nothing but in the processes that are asked to; see its module.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    cli::main_in(&everywhere(Worlds::of(Everybody)))
}
