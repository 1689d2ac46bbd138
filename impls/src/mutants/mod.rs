//! Deliberately broken implementations, modelled on faults that shipped in real systems: a harness is worth what it
//! finds. Beside them are equivalent rewrites, which are different and correct, and must raise no alarm.
//!
//! A mutant is a file `BASE/NAME.toml` of this folder. It says what it models, and describes one defect as text of the
//! real source and its replacement. `build/mutants.rs` applies all of them to one copy of the sources. So a mutant is
//! the real implementation except for its defect. It stays so when the implementation changes: an edit with a text that
//! is gone fails the build. And it costs no compilation of its own.
//!
//! | key | meaning |
//! | --- | --- |
//! | `family` | the kind of fault; at most four mutants have the same |
//! | `models` | what it models, and where that was seen |
//! | `killed_by` | the properties that find it; each of them has to |
//! | `equivalent` | whether it is a rewrite without a fault, which no property may report |
//! | `sequential` | whether the simplest single-threaded use shows the fault, so that it fails every smoke test |
//! | `edit` | one or more: `file`, `instead_of` (a text that occurs once, or first after the text `after`) and `write` |
//!
//! [`Mutants`] settles which mutant a process runs when it is first asked for that one's capabilities: one mutant for
//! each process. Before that the copy behaves like the original.

use std::sync::atomic::Ordering;

use flowmeter_harness::registry::Mutant;

mod registry;

pub use registry::Mutants;

include!(concat!(env!("OUT_DIR"), "/mutants.rs"));

// Not a primitive of a world: which mutant is active adds no ordering to a model and no step to its schedule.
#[expect(clippy::disallowed_types, reason = "it is no part of what is explored")]
static ACTIVE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// The number of the mutant that this process runs; 0 for none.
#[allow(
    dead_code,
    reason = "the build without a promise that `ab` compares with has no mutants"
)]
fn active() -> usize {
    // Relaxed: it is set before any thread of a model begins.
    ACTIVE.load(Ordering::Relaxed)
}

fn activate(number: usize) {
    ACTIVE.store(number, Ordering::Relaxed);
}
