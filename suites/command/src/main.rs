//! The `flowmeter` command over our own registry, in every world. It times nothing itself: `flowmeter-timed` does.

use std::process::ExitCode;

use flowmeter_suites::cli;
use flowmeter_suites::cost::Keeping;

// `cost` counts accesses by address, so its processes use no address twice. In others this is the system's allocator.
#[global_allocator]
static ALLOCATOR: Keeping = Keeping;

fn main() -> ExitCode {
    cli::main_in(&flowmeter_models::everywhere())
}
