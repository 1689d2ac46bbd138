//! Every model of our implementations, and of those that are faulty on purpose.
//!
//! Code that is generic over implementations and worlds is compiled here, where it is named. There is more of it than
//! of all other code together. Exploring a model takes as long as it has schedules, optimised or not, so the release
//! profile leaves this package unoptimised. Timed code must not be compiled here.

#[cfg(feature = "explored")]
use flowmeter_harness::sync::{
    World,
    loom::Loom,
    shuttle::{Shuttle, Sim},
    std::Std,
};
use flowmeter_impls::registry::All;
use flowmeter_suites::timed::TimedProgram;
use flowmeter_suites::worlds::Worlds;

/// The program that times them.
pub const TIMED: TimedProgram = TimedProgram {
    package: "flowmeter-bench",
    asking: "flowmeter",
    name: "flowmeter-timed",
    sources: env!("CARGO_MANIFEST_DIR"),
    main: "suites/bench/src/main.rs",
    without: "impls/without",
};

/// Our implementations and the published ones in every world, with mutants, injected faults and claims. [`TIMED`]
/// times them.
#[cfg(feature = "explored")]
#[must_use]
pub fn everywhere() -> Worlds {
    Worlds::timed_in(TIMED, All)
        .with::<Shuttle>(flowmeter_impls_shuttle::registry::All)
        .with::<Loom>(flowmeter_impls_loom::registry::All)
        .with::<Sim>(flowmeter_impls_shuttle::registry::All)
        .with_mutants::<Sim>(flowmeter_impls_shuttle::mutants::Mutants)
        .with_mutants::<Shuttle>(flowmeter_impls_shuttle::mutants::Mutants)
        .with_mutants::<Loom>(flowmeter_impls_loom::mutants::Mutants)
        // Last: it takes longest.
        .with_mutants::<Std>(flowmeter_impls::mutants::Mutants)
        .with_lies::<Sim>(flowmeter_impls_shuttle::registry::All)
        .with_lies::<Shuttle>(flowmeter_impls_shuttle::registry::All)
        .with_lies::<Std>(flowmeter_impls::registry::Ours)
        .with_claims::<Sim>(flowmeter_impls_shuttle::registry::Ours)
        .with_twins(&[Shuttle::NAME, Sim::NAME])
}

/// Our implementations and the published ones in the std world alone. [`TIMED`] times them.
#[cfg(not(feature = "explored"))]
#[must_use]
pub fn everywhere() -> Worlds {
    Worlds::timed_in(TIMED, All)
}
