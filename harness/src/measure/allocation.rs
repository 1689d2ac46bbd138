//! Counting allocations, in a pass of its own: counting distorts times, so a process that times must not count.
//!
//! A program opts in by `#[global_allocator] static ALLOCATOR: Counting = Counting;`. It counts nothing until it is
//! [switched on](switch_on), which only the process of that pass is; switched off, an allocation costs one relaxed
//! load more than the system's. The edges of a window take a reading each, so that what is counted is the work
//! between them: neither threads being started nor buffers being opened.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

// Relaxed throughout: each is a sum of its own, and none publishes anything.
static ON: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
/// Below 0 where more was released than allocated since counting began.
static LIVE: AtomicI64 = AtomicI64::new(0);
/// The most that [`LIVE`] was since [`mark`].
static PEAK: AtomicI64 = AtomicI64::new(0);

/// The system's allocator, counted while switched on. A reallocation counts as an allocation of the new size and a
/// release of the old.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting;

/// What was allocated over a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocated {
    /// How often.
    pub allocations: u64,
    /// How much, bytes.
    pub bytes: u64,
    /// How much of it was held at once at most, above what was held when the time began, bytes.
    pub peak_live_bytes: u64,
}

/// What this process had allocated at a moment, since counting was switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    allocations: u64,
    bytes: u64,
    live: i64,
    peak: i64,
}

impl Reading {
    /// What was allocated since `earlier`, which was taken by [`mark`].
    pub(super) fn since(self, earlier: Reading) -> Allocated {
        Allocated {
            allocations: self.allocations.saturating_sub(earlier.allocations),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            peak_live_bytes: u64::try_from(self.peak - earlier.live).unwrap_or(0),
        }
    }
}

impl Allocated {
    /// Both together; of the peaks the higher.
    #[must_use]
    pub(super) fn plus(self, other: Allocated) -> Allocated {
        Allocated {
            allocations: self.allocations + other.allocations,
            bytes: self.bytes + other.bytes,
            peak_live_bytes: self.peak_live_bytes.max(other.peak_live_bytes),
        }
    }

    /// As much over a time so many times as long; the peak stays.
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

/// Counts from now on, for good; `false` where [`Counting`] is not this program's allocator.
pub fn switch_on() -> bool {
    ON.store(true, Ordering::Relaxed);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    drop(std::hint::black_box(Box::new(0_u64)));
    ALLOCATIONS.load(Ordering::Relaxed) > before
}

/// How many bytes more are held now than when counting began (fewer: below 0); `None` while nothing is counted.
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

/// [`now`], from which on the peak is looked for anew.
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
    // A block is never larger than an i64 holds.
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
