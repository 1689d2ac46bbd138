//! The timed code: every workload over every implementation of ours and every published one.
//!
//! It depends on nothing of the command and on no model, so it is compiled early, once for the command, `cargo bench`
//! and the tests. rustc reuses some generic functions of upstream crates, optimised or not: no unoptimised crate may
//! be below this one.

use flowmeter_impls::registry::Everybody;
use flowmeter_workloads::contest::Contest;

/// All implementations of the std world, and their workloads.
#[must_use]
pub fn contest() -> Contest {
    Contest::of(Everybody)
}
