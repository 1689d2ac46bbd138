//! The `flowmeter` command over our own registry, in every world. It times nothing itself: `flowmeter-timed` does.

use std::process::ExitCode;

use flowmeter_suites::cli;

fn main() -> ExitCode {
    cli::main_in(&flowmeter_models::everywhere())
}
