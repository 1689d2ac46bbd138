//! My implementations among the rest: proofs, measurement, a ranking, and a report.

use std::process::ExitCode;

use flowmeter_suites::worlds::Worlds;
use flowmeter_suites::{cli, process};

mod registry;
use registry::Rivals;

fn main() -> ExitCode {
    let worlds = Worlds::of(Rivals);
    if let Some(code) = process::serve_if_asked(&worlds) {
        return code;
    }
    // The argument that cargo adds is no filter.
    let filter = std::env::args()
        .skip(1)
        .find(|argument| argument != "--bench");
    cli::bench(worlds.catalogue(), filter.as_deref(), |_| Vec::new())
}
