//! The timed code: every workload over every implementation of ours and every published one.
//!
//! It depends on nothing of the command and on no model, so it is compiled early, once for the command, `cargo bench`
//! and the tests. rustc reuses some generic functions of upstream crates, optimised or not, so no model may be below
//! this one.

use flowmeter_impls::registry::All;
use flowmeter_workloads::catalogue::Catalogue;

/// All implementations of the std world, and their workloads.
#[must_use]
pub fn catalogue() -> Catalogue {
    Catalogue::of(All)
}
