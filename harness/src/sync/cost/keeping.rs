//! An allocator that tells of each block, and that can keep what is released.
//!
//! A count by address takes a new object for an old one where an address is used again, and when that happens differs
//! between allocators. So a process that counts keeps everything until it ends.

use ::std::alloc::{GlobalAlloc, Layout, System};
use ::std::ptr;
use ::std::sync::atomic::{AtomicBool, Ordering};

use super::allocations;

// Relaxed: blocks that other threads release at the moment of the change do not matter.
static KEEPS: AtomicBool = AtomicBool::new(false);

/// The system's allocator, until a cost is counted in this process. A program opts in by
/// `#[global_allocator] static ALLOCATOR: Keeping = Keeping;`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keeping;

impl Keeping {
    /// Keeps from here on what is released. `false` where it is not this program's allocator.
    pub fn keep() -> bool {
        KEEPS.store(true, Ordering::Relaxed);
        let address = || (&raw const *::std::hint::black_box(Box::new([0_u64; 4]))).addr();
        let mut seen = ::std::collections::BTreeSet::new();
        (0..64).all(|_| seen.insert(address()))
    }
}

// SAFETY: every block is the system's, with the same layout. A block that is kept is never given out again.
unsafe impl GlobalAlloc for Keeping {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocations::made();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        allocations::made();
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !KEEPS.load(Ordering::Relaxed) {
            allocations::made();
            // SAFETY: the caller keeps the contract of `realloc`.
            return unsafe { System.realloc(block, layout, new_size) };
        }
        // SAFETY: the caller promises that the size is valid with this alignment.
        let new =
            unsafe { self.alloc(Layout::from_size_align_unchecked(new_size, layout.align())) };
        if !new.is_null() {
            // SAFETY: both blocks have at least that size, and the new one is no part of the old one.
            unsafe { ptr::copy_nonoverlapping(block, new, layout.size().min(new_size)) };
        }
        new
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !KEEPS.load(Ordering::Relaxed) {
            // SAFETY: the caller keeps the contract of `dealloc`.
            unsafe { System.dealloc(block, layout) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_released_is_kept_from_the_first_count_on() {
        assert!(!Keeping::keep(), "this program's allocator is another");
        let layout = Layout::new::<[u64; 4]>();
        // SAFETY: the blocks are used within their sizes, and with their own layouts.
        let (first, all) = unsafe {
            let first = Keeping.alloc_zeroed(layout);
            first.write(7);
            let grown = Keeping.realloc(first, layout, 64);
            assert_eq!(grown.read(), 7);
            let blocks = (0..64).map(|_| {
                let block = Keeping.alloc(layout);
                Keeping.dealloc(block, layout);
                block
            });
            (first, blocks.collect::<::std::collections::BTreeSet<_>>())
        };
        assert!(all.len() == 64 && !all.contains(&first));
    }
}
