//! A stand-alone reproduction, through the own API of smol's executor, async-executor, of a task that it keeps for ever. It
//! asserts the fault as it is: once a release mends it, the test fails.
//!
//! A wake marks its task as scheduled, and then pushes it to the queue of the executor. In between, a drop of the executor
//! wakes every task. This one is marked already, so that wake does nothing. Then the drop empties the queue. The push comes
//! later, and the executor's state, which the task keeps, holds the task.
//!
//! The window is a few instructions wide, but a push that needs a new block of the queue allocates in it. So the allocator of
//! this program waits there for the drop.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "real threads against a published crate: no checker watches"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use async_executor::Executor;

/// How many tasks the queue takes before a push allocates again. A push of the last of them allocates.
const BLOCK: usize = 31;

static PUSHES: AtomicBool = AtomicBool::new(false);
static DROPPED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

struct Waiting;

// SAFETY: all calls are passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Waiting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if WAITS.replace(false) {
            PUSHES.store(true, Ordering::SeqCst);
            wait(&DROPPED);
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

/// Allocates nothing, and ends: a release that is mended may wait for the push.
fn wait(set: &AtomicBool) {
    let end = Instant::now() + Duration::from_secs(5);
    while !set.load(Ordering::SeqCst) && Instant::now() < end {
        thread::yield_now();
    }
}

#[test]
fn a_task_that_is_woken_while_its_executor_is_dropped_is_kept_for_ever() {
    let executor = Executor::new();
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let (polled, wakers) = mpsc::channel::<Waker>();
    let task = poll_fn(move |context| {
        let _held = &held;
        polled.send(context.waker().clone()).expect("it is heard");
        Poll::<()>::Pending
    });
    executor.spawn(task).detach();
    let poll_once = || {
        assert!(executor.try_tick(), "the task is in the queue");
        wakers.try_recv().expect("it was polled")
    };
    // With the spawn that makes one push less than a block takes.
    (2..BLOCK).for_each(|_| poll_once().wake());
    let waker = poll_once();
    let waking = thread::spawn(move || {
        WAITS.set(true);
        waker.wake();
    });
    wait(&PUSHES);
    drop(executor);
    DROPPED.store(true, Ordering::SeqCst);
    waking.join().expect("the wake returns");
    assert!(PUSHES.load(Ordering::SeqCst), "no push has allocated");
    assert_eq!(Arc::strong_count(&alive), 2, "the task was dropped");
}
