//! The faults that the properties must find: implementations of ours with a wrapper that adds a fault. The same ones
//! without a fault must pass.
//!
//! Each test has a process of its own: the remains of one exploration must not disturb the next.

use std::process::ExitCode;
use std::time::Duration;

use flowmeter_harness::sync::{Exploration, World};
use flowmeter_records::{Proof, Verdict};
// The files that `new` writes use these names of the primitives.
use flowmeter_impls::sync;
use flowmeter_models as _;
use flowmeter_suites::isolation;

#[path = "faults/asked.rs"]
mod asked;
#[path = "faults/begun.rs"]
mod begun;
#[path = "faults/limiters.rs"]
mod limiters;
#[path = "faults/pipelines.rs"]
mod pipelines;
#[path = "faults/timers.rs"]
mod timers;

fn main() -> ExitCode {
    let mut models = timers::models();
    models.extend(pipelines::models());
    models.extend(limiters::models());
    models.extend(begun::models());
    models.extend(asked::models());
    isolation::main(models)
}

/// As much as a fault needs to show; under loom the whole space, since less proves nothing.
fn plan<W: World>() -> Exploration {
    let loom = W::NAME == "loom";
    Exploration {
        executions: if loom { 1_000_000 } else { 200 },
        time: Duration::from_secs(if loom { 60 } else { 10 }),
        ..Exploration::default()
    }
}

/// Whether the result is the expected one: a pass where `says` is empty, otherwise a failure with that text.
fn judged(proof: Proof, says: &str) -> Result<String, String> {
    let told = proof.detail.unwrap_or_default();
    let expected = match says {
        "" => proof.verdict == Verdict::Pass,
        _ => proof.verdict == Verdict::Fail && told.contains(says),
    };
    let seen = format!("{:?} {told}", proof.verdict);
    if expected { Ok(seen) } else { Err(seen) }
}
