//! An allocator that ends the process when memory is freed twice, or with another size or alignment than it was allocated
//! with.

use ::std::alloc::{GlobalAlloc, Layout, System};
use ::std::process::abort;
use ::std::ptr;

/// The system's allocator, with a word about each block before it.
pub struct Ledger;

/// Blocks whose alignment is greater are not looked at.
const HEAD: usize = 16;
const LIVE: usize = 0x6c69_7665_f10e_0001;
const FREED: usize = 0x6672_6565_f10e_0002;

fn whole(layout: Layout) -> Layout {
    Layout::from_size_align(layout.size() + HEAD, HEAD).unwrap_or_else(|_| abort())
}

// SAFETY: each block is the system's, with a head of 16 bytes that keeps the alignment of up to 16.
unsafe impl GlobalAlloc for Ledger {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > HEAD {
            // SAFETY: as the caller's.
            return unsafe { System.alloc(layout) };
        }
        // SAFETY: the size is not zero, and the head lies within the block.
        unsafe {
            let block = System.alloc(whole(layout));
            if block.is_null() {
                return block;
            }
            block.cast::<usize>().write(LIVE ^ layout.align());
            block.cast::<usize>().add(1).write(layout.size());
            block.add(HEAD)
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() > HEAD {
            // SAFETY: as the caller's.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: as above.
        unsafe {
            let block = self.alloc(layout);
            if !block.is_null() {
                ptr::write_bytes(block, 0, layout.size());
            }
            block
        }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if layout.align() > HEAD {
            // SAFETY: as the caller's.
            return unsafe { System.dealloc(pointer, layout) };
        }
        // SAFETY: the head is before each block of this allocator.
        unsafe {
            let block = pointer.sub(HEAD);
            let head = block.cast::<usize>();
            if head.read() != LIVE ^ layout.align() || head.add(1).read() != layout.size() {
                abort();
            }
            head.write(FREED);
            System.dealloc(block, whole(layout));
        }
    }
}
