//! The `flowmeter` command over our own registry, in every world.

use std::process::ExitCode;

use flowmeter_harness::measure::allocation::Counting;
use flowmeter_suites::cli;

/// Counts only in the processes that request it; see its module.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    cli::main_in(&flowmeter_models::everywhere(flowmeter_timed::catalogue()))
}
