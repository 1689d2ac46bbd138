//! What channels of large values allocate before the first put. In a program of its own, since it counts
//! allocations.

#![allow(
    clippy::disallowed_types,
    reason = "an allocator counts with std's atomics"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use flowmeter_impls::channel::{Buffer, lock_free, mutex, ordered_locks};

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: all calls are passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

type Large = [u8; 1 << 20];

/// How many bytes `open` allocates.
fn allocated_by(open: fn()) -> usize {
    let before = ALLOCATED.load(Ordering::Relaxed);
    open();
    ALLOCATED.load(Ordering::Relaxed) - before
}

/// Room for even one value would be too much: none was put.
#[test]
fn an_unbounded_channel_of_large_values_begins_small() {
    let designs: [(&str, fn()); 3] = [
        ("mutex", || {
            drop(mutex::Channel::<Large>::new(Buffer::Unbounded))
        }),
        ("ordered_locks", || {
            drop(ordered_locks::Channel::<Large>::new(Buffer::Unbounded));
        }),
        ("lock_free", || {
            drop(lock_free::Channel::<Large>::new(Buffer::Unbounded));
        }),
    ];
    for (design, open) in designs {
        let bytes = allocated_by(open);
        assert!(bytes < 64 << 10, "{design} allocates {bytes} bytes");
    }
}
