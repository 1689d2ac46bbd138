//! Implementations broken on purpose, after faults that shipped in real systems: what a harness is worth is shown by
//! what it finds. Beside them equivalent rewrites, which are different and correct, and must raise no alarm.
//!
//! A mutant is a file `BASE/NAME.toml` of this folder: what it models, and one defect, as text of the real source and
//! what stands there instead. `build/mutants.rs` applies all of them to one copy of the sources, so a mutant is the
//! real implementation but for its defect, stays so when that one changes (an edit whose text is gone fails the
//! build), and costs no compilation of its own.
//!
//! | key | meaning |
//! | --- | --- |
//! | `family` | the kind of fault; at most four mutants have the same |
//! | `models` | what it models, and where that was seen |
//! | `killed_by` | the properties that find it; each of them has to |
//! | `equivalent` | whether it is a rewrite without a fault, found by nobody |
//! | `sequential` | whether the plainest use by a single thread shows the fault, so that no smoke test can be passed |
//! | `edit` | one or more: `file`, `instead_of` (text that stands there once; or the first `after` a text that does) and `write` |
//!
//! Which mutant a process is made of is settled by [`Mutants`], when that one is asked what it has: one process, one
//! mutant. Without it the copy behaves as the original does.

use std::sync::atomic::Ordering;

use flowmeter_harness::registry::Mutant;

mod registry;

pub use registry::Mutants;

include!(concat!(env!("OUT_DIR"), "/mutants.rs"));

// No primitive of a world: which mutant it is adds no ordering to a model and no step to its schedule.
#[expect(clippy::disallowed_types, reason = "it is no part of what is explored")]
static ACTIVE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// Number of the mutant that this process is made of; 0 for none.
fn active() -> usize {
    // Relaxed: it is set before any thread of a model begins.
    ACTIVE.load(Ordering::Relaxed)
}

fn activate(number: usize) {
    ACTIVE.store(number, Ordering::Relaxed);
}
