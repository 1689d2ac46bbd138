//! Counts the heap allocations that an implementation makes, without those of the world that explores it.
//!
//! The explored worlds run all threads of a model on one thread of the system, and allocate for their own bookkeeping.
//! So an allocation counts only [`within`] a call of the implementation, except where it is made by a primitive of the
//! world, which is kept [`apart`]. Threads switch only in primitives. So each thread goes on as it was.

use ::std::cell::Cell;

thread_local! {
    /// Whether the code that runs is the implementation's.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
    #[cfg(feature = "shuttle")]
    static MADE: Cell<u64> = const { Cell::new(0) };
}

/// A part of the calling thread's work, until it is dropped.
#[derive(Debug)]
#[must_use = "the part ends when this is dropped"]
pub struct Part {
    was_within: bool,
}

impl Part {
    fn begin(is_within: bool) -> Part {
        Part {
            was_within: WITHIN.replace(is_within),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        WITHIN.set(self.was_within);
    }
}

/// Calls the implementation: what the call allocates counts.
#[inline]
pub fn within<R>(call: impl FnOnce() -> R) -> R {
    let _part = Part::begin(true);
    call()
}

/// Begins a part that is the world's own: what it allocates does not count.
#[cfg(any(feature = "loom", feature = "shuttle"))]
#[inline]
pub fn apart() -> Part {
    Part::begin(false)
}

/// An allocator gives out a block, or makes one larger.
#[cfg(feature = "shuttle")]
#[inline]
pub(super) fn made() {
    if WITHIN.get() {
        MADE.set(MADE.get() + 1);
    }
}

/// Whether the code that runs is the implementation's.
#[cfg(feature = "shuttle")]
pub(in super::super) fn is_within() -> bool {
    WITHIN.get()
}

/// The allocations that counted on this thread of the system. `None` where the program's allocator tells of none.
#[cfg(feature = "shuttle")]
pub(in super::super) fn so_far() -> Option<u64> {
    let so_far = MADE.get();
    within(|| drop(::std::hint::black_box(Box::new(0_u64))));
    (MADE.replace(so_far) > so_far).then_some(so_far)
}
