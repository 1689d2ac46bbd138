//! `cargo flowmeter`, over my implementations and all others.

use std::process::ExitCode;

use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_suites::cli;
use flowmeter_suites::worlds::Worlds;

#[path = "../benches/registry.rs"]
mod registry;
use registry::Rivals;

fn main() -> ExitCode {
    cli::main_in(
        &Worlds::of(Rivals)
            .with::<Loom>(outside_loom::Mine)
            .with::<Shuttle>(outside_shuttle::Mine)
            .with::<Sim>(outside_shuttle::Mine),
    )
}
