//! Stamps for what a checker records: one counter outside the model, so that taking one is no step of it.

use ::std::cell::Cell;

thread_local! {
    // All threads of a model run on one thread of the system, in turn.
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// A stamp later than all before it.
pub fn next() -> u64 {
    LAST.with(|last| {
        last.set(last.get() + 1);
        last.get()
    })
}
