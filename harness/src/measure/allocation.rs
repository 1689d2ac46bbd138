//! Counting allocations, in a pass of its own: counting distorts times, so a process that times must not count.
//!
//! A program opts in by `#[global_allocator] static ALLOCATOR: Counting = Counting;` and takes the
//! difference of two [`now`]s around what it asks about. In a program that did not, everything stays 0.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

// Relaxed throughout: each is a sum of its own, read when the threads in question have been joined.
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static FREED_BYTES: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, counted. A reallocation counts as an allocation of the new size and a release of
/// the old.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting;

/// What this process has allocated so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    /// How often.
    pub allocations: u64,
    /// How much, bytes.
    pub bytes: u64,
    /// How much of that is held still, bytes.
    pub live_bytes: u64,
}

/// What this process has allocated so far; zeros where [`Counting`] is not its allocator.
pub fn now() -> Allocated {
    let freed = FREED_BYTES.load(Ordering::Relaxed);
    let bytes = BYTES.load(Ordering::Relaxed);
    Allocated {
        allocations: ALLOCATIONS.load(Ordering::Relaxed),
        bytes,
        live_bytes: bytes.saturating_sub(freed),
    }
}

fn counted(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
}

fn freed(bytes: usize) {
    FREED_BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
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
        counted(new_size);
        freed(layout.size());
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
    fn blocks_are_counted_as_they_come_and_go() {
        // The only user of this allocator in the test program, so the counts are exact.
        let layout = Layout::from_size_align(100, 8).expect("a small block");
        let since = |before: Allocated| {
            let now = now();
            let count = now.allocations - before.allocations;
            (
                count,
                now.bytes - before.bytes,
                now.live_bytes - before.live_bytes,
            )
        };
        let before = now();
        // SAFETY: each block is used within its size, with its own layout, and released once.
        unsafe {
            let block = Counting.alloc(layout);
            assert_eq!(since(before), (1, 100, 100));
            let block = Counting.realloc(block, layout, 300);
            assert_eq!(since(before), (2, 400, 300));
            let zeroed = Counting.alloc_zeroed(layout);
            assert_eq!(*zeroed, 0);
            assert_eq!(since(before), (3, 500, 400));
            Counting.dealloc(zeroed, layout);
            Counting.dealloc(block, Layout::from_size_align_unchecked(300, 8));
        }
        assert_eq!(since(before), (3, 500, 0));
    }
}
