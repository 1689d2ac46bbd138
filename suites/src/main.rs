//! The `flowmeter` command over our own registry, in every world.

use std::process::ExitCode;

use flowmeter_harness::measure::allocation::Counting;
use flowmeter_harness::sync::loom::Loom;
use flowmeter_harness::sync::shuttle::{Shuttle, Sim};
use flowmeter_harness::sync::std::Std;
use flowmeter_suites::cli;
use flowmeter_suites::worlds::Worlds;

/// Counts nothing but in the processes that are asked to; see its module.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let worlds = Worlds::of(flowmeter_impls::registry::Everybody)
        .with::<Shuttle>(flowmeter_impls_shuttle::registry::Everybody)
        .with::<Loom>(flowmeter_impls_loom::registry::Everybody)
        .with::<Sim>(flowmeter_impls_shuttle::registry::Everybody)
        .with_mutants::<Sim>(flowmeter_impls_shuttle::mutants::Mutants)
        .with_mutants::<Shuttle>(flowmeter_impls_shuttle::mutants::Mutants)
        .with_mutants::<Std>(flowmeter_impls::mutants::Mutants)
        .with_mutants::<Loom>(flowmeter_impls_loom::mutants::Mutants)
        .with_lies::<Sim>(flowmeter_impls_shuttle::registry::Everybody)
        .with_lies::<Shuttle>(flowmeter_impls_shuttle::registry::Everybody)
        .with_lies::<Std>(flowmeter_impls::registry::Ours)
        .with_claims::<Sim>(flowmeter_impls_shuttle::registry::Ours);
    cli::main_in(&worlds)
}
