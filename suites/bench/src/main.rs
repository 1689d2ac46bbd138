//! The program that times: the command and `cargo bench` start it for each implementation, and ask it to prove and to
//! run one. It does nothing else.

use std::process::ExitCode;

use flowmeter_impls::registry::All;
use flowmeter_measure::allocation::Counting;
use flowmeter_suites::process;
use flowmeter_suites::worlds::Worlds;

/// Counts only in the processes that request it; see its module.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let worlds = Worlds::timing(flowmeter_timed::catalogue(), All);
    process::serve_if_asked(&worlds).unwrap_or_else(|| {
        eprintln!(
            "flowmeter-timed: this program is for `cargo flowmeter measure` and `cargo bench` alone"
        );
        ExitCode::from(2)
    })
}
