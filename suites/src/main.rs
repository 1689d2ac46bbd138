//! The `flowmeter` command over our own registry.

use std::process::ExitCode;

use flowmeter_harness::measure::allocation::Counting;

/// Counts nothing but in the processes that are asked to; see its module.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    flowmeter_suites::cli::main(flowmeter_impls::registry::Everybody)
}
