//! The `flowmeter` command over our own registry.

use std::process::ExitCode;

fn main() -> ExitCode {
    flowmeter_suites::cli::main(flowmeter_impls::registry::Everybody)
}
