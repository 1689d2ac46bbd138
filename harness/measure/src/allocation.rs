//! Counts allocations, in a pass of its own: counting distorts times, so a process that times must not count.
//!
//! A program opts in by `#[global_allocator] static ALLOCATOR: Counting = Counting;`. Counting begins only when it is
//! [switched on](switch_on), which only the process of that pass does. While it is off, an allocation costs one relaxed
//! load more than the system's. Both edges of a window take a reading, so only the work between them is counted, and
//! not the start of threads or the opening of buffers.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

// Relaxed throughout: each is an independent sum, and none publishes other data.
static ON: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
/// Bytes allocated minus bytes released since counting began; may be negative.
static LIVE: AtomicI64 = AtomicI64::new(0);
/// The maximum of [`LIVE`] since [`mark`].
static PEAK: AtomicI64 = AtomicI64::new(0);

/// The system's allocator, with counting while it is switched on. A reallocation counts as an allocation of the new
/// size and a release of the old one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting;

/// What was allocated in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocated {
    /// Number of allocations.
    pub allocations: u64,
    /// Bytes allocated.
    pub bytes: u64,
    /// Peak of the bytes held at once, above those held when the interval began.
    pub peak_live_bytes: u64,
}

/// Totals of this process since counting was switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    allocations: u64,
    bytes: u64,
    live: i64,
    peak: i64,
}

impl Reading {
    /// The difference to `earlier`, which was taken by [`mark`].
    pub(super) fn since(self, earlier: Reading) -> Allocated {
        Allocated {
            allocations: self.allocations.saturating_sub(earlier.allocations),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            peak_live_bytes: u64::try_from(self.peak - earlier.live).unwrap_or(0),
        }
    }
}

impl Allocated {
    /// The sum of both; of the peaks, the higher one.
    #[must_use]
    pub(super) fn plus(self, other: Allocated) -> Allocated {
        Allocated {
            allocations: self.allocations + other.allocations,
            bytes: self.bytes + other.bytes,
            peak_live_bytes: self.peak_live_bytes.max(other.peak_live_bytes),
        }
    }

    /// Scaled to an interval `factor` times as long; the peak stays.
    #[must_use]
    pub(super) fn scaled(self, factor: f64) -> Allocated {
        let scaled = |number: u64| (number as f64 * factor).round() as u64;
        Allocated {
            allocations: scaled(self.allocations),
            bytes: scaled(self.bytes),
            ..self
        }
    }
}

/// Switches counting on for good. Returns `false` where [`Counting`] is not this program's allocator.
pub fn switch_on() -> bool {
    ON.store(true, Ordering::Relaxed);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    drop(std::hint::black_box(Box::new(0_u64)));
    ALLOCATIONS.load(Ordering::Relaxed) > before
}

/// Bytes held now minus bytes held when counting began; `None` while nothing is counted.
pub fn live_bytes() -> Option<i64> {
    now().map(|reading| reading.live)
}

/// What this process has allocated so far; `None` while nothing is counted.
pub(super) fn now() -> Option<Reading> {
    ON.load(Ordering::Relaxed).then(|| Reading {
        allocations: ALLOCATIONS.load(Ordering::Relaxed),
        bytes: BYTES.load(Ordering::Relaxed),
        live: LIVE.load(Ordering::Relaxed),
        peak: PEAK.load(Ordering::Relaxed),
    })
}

/// [`now`], and restarts the search for the peak.
pub(super) fn mark() -> Option<Reading> {
    PEAK.store(LIVE.load(Ordering::Relaxed), Ordering::Relaxed);
    now()
}

#[inline]
fn counted(bytes: usize) {
    if !ON.load(Ordering::Relaxed) {
        return;
    }
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
    // The size of a block always fits an i64.
    let live = LIVE.fetch_add(bytes as i64, Ordering::Relaxed) + bytes as i64;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

#[inline]
fn freed(bytes: usize) {
    if ON.load(Ordering::Relaxed) {
        LIVE.fetch_sub(bytes as i64, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator with unchanged arguments; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        counted(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        counted(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        freed(layout.size());
        counted(new_size);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        freed(layout.size());
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_counted_as_they_come_and_go_while_it_is_switched_on() {
        // The only user of this allocator in the test program, so the counts are exact.
        let layout = Layout::from_size_align(100, 8).expect("a small block");
        // SAFETY: each block is used within its size, with its own layout, and released once.
        unsafe {
            let uncounted = Counting.alloc(layout);
            Counting.dealloc(uncounted, layout);
            assert_eq!(now(), None);
            assert!(!switch_on(), "this program's allocator is another");
            let before = mark().expect("switched on");
            let since = || {
                let since = now().expect("switched on").since(before);
                (since.allocations, since.bytes, since.peak_live_bytes)
            };
            assert_eq!(since(), (0, 0, 0));
            let block = Counting.alloc(layout);
            assert_eq!(since(), (1, 100, 100));
            let block = Counting.realloc(block, layout, 300);
            assert_eq!(since(), (2, 400, 300));
            let zeroed = Counting.alloc_zeroed(layout);
            assert_eq!(*zeroed, 0);
            assert_eq!(since(), (3, 500, 400));
            Counting.dealloc(zeroed, layout);
            let again = Counting.alloc(layout);
            assert_eq!(since(), (4, 600, 400), "the peak is no sum");
            Counting.dealloc(again, layout);
            Counting.dealloc(block, Layout::from_size_align_unchecked(300, 8));
        }
    }
}
