//! async-executor 1.14.1, the executor of smol, keeps a task for ever that is woken while its executor is dropped.
//!
//! A wake marks the task as scheduled and then pushes it to the executor's queue. In between the drop wakes all tasks,
//! for which this one counts as woken, and empties the queue. The push comes later, to a queue that no thread empties.
//! The task refers to the queue, and the queue to the task.
//!
//! ```text
//! cargo run -p flowmeter-impls --features peers --example smol_leaked_task
//! ```
//!
//! The window is a few instructions wide, but each 31st push allocates in it. So the allocator of this program waits
//! there for the drop, and it happens every time.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "real threads against published crates: no checker watches"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::poll_fn;
use std::sync::{Arc, Barrier, mpsc};
use std::task::Poll;
use std::thread;

use async_executor::Executor;

/// How many tasks a block of the queue takes.
const BLOCK: usize = 31;

static PUSHES: Barrier = Barrier::new(2);
static DROPPED: Barrier = Barrier::new(2);

thread_local! {
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

struct Waiting;

// SAFETY: all calls are passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Waiting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if WAITS.replace(false) {
            PUSHES.wait();
            DROPPED.wait();
        }
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Waiting = Waiting;

fn main() {
    let executor = Executor::new();
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let (polled, wakers) = mpsc::channel();
    let task = poll_fn(move |context| {
        let _ = (&held, polled.send(context.waker().clone()));
        Poll::<()>::Pending
    });
    executor.spawn(task).detach();
    // Spawned once and woken so often, it is pushed one time less than a block has room.
    for _ in 2..BLOCK {
        assert!(executor.try_tick(), "the task is in the queue");
        let waker = wakers.recv().expect("it was polled");
        waker.wake();
    }
    assert!(executor.try_tick(), "the task is in the queue");
    let waker = wakers.recv().expect("it was polled");
    let waking = thread::spawn(move || {
        WAITS.set(true);
        waker.wake();
    });
    PUSHES.wait();
    drop(executor);
    DROPPED.wait();
    waking.join().expect("the wake returns");
    match Arc::strong_count(&alive) {
        1 => println!("the task was dropped with its executor"),
        _ => println!("the task outlives its executor"),
    }
}
