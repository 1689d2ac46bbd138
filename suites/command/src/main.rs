//! The `flowmeter` command over our own registry, in every world.

use std::process::ExitCode;

use flowmeter_harness::measure::allocation::Counting;
use flowmeter_models::everywhere;
use flowmeter_timed::{contestants, main_in};

/// Counts only in the processes that request it; see its module.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    main_in(&everywhere(contestants()))
}
