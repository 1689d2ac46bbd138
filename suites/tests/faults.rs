//! What the properties must find: contestants of ours, made faulty by what is put around them, and the same ones
//! without a fault, which must pass.
//!
//! A test of its own process each: what one exploration leaves behind must not disturb the next.

use std::process::ExitCode;
use std::time::Duration;

use flowmeter_harness::record::{Proof, Verdict};
use flowmeter_harness::sync::{Exploration, World};
// What `new` writes names the primitives so.
use flowmeter_impls::sync;
use flowmeter_suites::isolation;

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
    isolation::main(models)
}

/// As much as a fault needs to show; under loom all there is, since less proves nothing.
fn plan<W: World>() -> Exploration {
    let loom = W::NAME == "loom";
    Exploration {
        executions: if loom { 1_000_000 } else { 200 },
        time: Duration::from_secs(if loom { 60 } else { 10 }),
        ..Exploration::default()
    }
}

/// Whether that is what was expected: a pass where `says` is nothing, otherwise a failure in those words.
fn judged(proof: Proof, says: &str) -> Result<String, String> {
    let told = proof.detail.unwrap_or_default();
    let expected = match says {
        "" => proof.verdict == Verdict::Pass,
        _ => proof.verdict == Verdict::Fail && told.contains(says),
    };
    let seen = format!("{:?} {told}", proof.verdict);
    if expected { Ok(seen) } else { Err(seen) }
}
