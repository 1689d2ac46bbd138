//! tokio's runtime behind the executors' trait (G1, G2).

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "real threads against published crates: no checker watches"
)]

use std::num::NonZeroUsize;
use std::sync::mpsc;
use std::sync::{Arc, Barrier};

use flowmeter_harness::executor::Executors;
use flowmeter_impls::peers::tokio_executor::Tokio;

const ONE: NonZeroUsize = NonZeroUsize::MIN;

#[test]
fn g1_a_task_that_panics_ends_alone_and_is_counted() {
    let executor = Tokio::with_threads(ONE);
    let (done, waiting) = mpsc::channel();
    executor.spawn(async { panic!("on purpose") });
    executor.spawn_blocking(|| panic!("on purpose"));
    executor.spawn(async move { done.send(7).expect("the test waits") });
    assert_eq!(waiting.recv(), Ok(7));
    // The pool for blocking work has threads of its own: only its own end says that it has ended.
    while executor.panics() < 2 {
        std::thread::yield_now();
    }
    assert_eq!(executor.panics(), 2);
}

#[test]
fn g2_blocking_work_starves_no_task() {
    let executor = Tokio::with_threads(ONE);
    let meeting = Arc::new(Barrier::new(2));
    let (done, waiting) = mpsc::channel();
    let held_up = Arc::clone(&meeting);
    executor.spawn_blocking(move || {
        held_up.wait();
    });
    executor.spawn(async move { done.send(()).expect("the test waits") });
    assert_eq!(waiting.recv(), Ok(()));
    meeting.wait();
}

#[test]
fn dropping_the_executor_drops_tasks_that_wait() {
    let executor = Tokio::with_threads(ONE);
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    executor.spawn(async move {
        let _held = held;
        std::future::pending::<()>().await;
    });
    drop(executor);
    assert_eq!(Arc::strong_count(&alive), 1);
}
