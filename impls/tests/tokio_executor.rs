//! tokio's runtime behind the executors' trait (G1, G2).

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "real threads against published crates: no checker watches"
)]

use std::num::NonZeroUsize;
use std::sync::mpsc;
use std::sync::{Arc, Barrier};

use flowmeter_harness::channel::{Blocking, Buffer, Channels, TakeError};
use flowmeter_harness::executor::{Executors, Spawn};
use flowmeter_harness::pipeline::ResultPort;
use flowmeter_impls::channel::mutex::MutexChannels;
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

#[test]
fn a_task_spawns_further_tasks_whose_panics_the_executor_counts() {
    let executor = Tokio::with_threads(ONE);
    let spawner = executor.spawner();
    let (done, waiting) = mpsc::channel();
    executor.spawn(async move {
        spawner.spawn(async { panic!("on purpose") });
        spawner.spawn(async move { done.send(7).expect("the test waits") });
    });
    assert_eq!(waiting.recv(), Ok(7));
    // One thread, yet nothing says in which order it runs the two.
    while executor.panics() < 1 {
        std::thread::yield_now();
    }
    assert_eq!(executor.panics(), 1);
}

#[test]
fn a_spawner_that_outlives_its_executor_drops_tasks_unrun() {
    let executor = Tokio::with_threads(ONE);
    let spawner = executor.spawner();
    drop(executor);
    let (done, waiting) = mpsc::channel();
    spawner.spawn(async move { done.send(7).expect("the test waits") });
    assert_eq!(waiting.recv(), Err(mpsc::RecvError));
}

#[test]
fn p4_a_task_that_panics_closes_its_results_after_what_it_has_put() {
    let executor = Tokio::with_threads(ONE);
    let (tx, mut rx) = MutexChannels::open(Buffer::Unbounded).expect("the family has that buffer");
    // A half that stays: nothing but the port's closing can end the channel.
    let _stays = MutexChannels::another_tx(&tx);
    let mut port = ResultPort::<MutexChannels, _>::new(tx);
    executor.spawn(async move {
        assert_eq!(port.put(7).await, Ok(()));
        panic!("on purpose");
    });
    assert_eq!(MutexChannels::take(&mut rx), Ok(7));
    assert_eq!(MutexChannels::take(&mut rx), Err(TakeError::Closed));
}
