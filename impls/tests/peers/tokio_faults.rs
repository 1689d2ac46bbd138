//! Stand-alone reproductions, through tokio's own API, of why its sleeps do not claim `answers-sleepers` (T8), and its
//! runtime not `runs-beside-blocked` (G2). They assert the behaviour as it is: once a release changes it, a test fails.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a published crate on this thread: no checker watches"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

#[test]
fn a_sleep_that_is_polled_after_its_runtime_has_ended_panics() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let mut sleep = {
        let _context = runtime.enter();
        Box::pin(tokio::time::sleep(Duration::from_secs(600)))
    };
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(sleep.as_mut().poll(&mut context), Poll::Pending);
    drop(runtime);
    // T8 says that the sleep ends, as if its time had come.
    let after = catch_unwind(AssertUnwindSafe(|| sleep.as_mut().poll(&mut context)));
    assert!(after.is_err(), "it answered {after:?}");
}

/// The first thread finds no task, and counts as searching until it has parked. So the second thread is refused to search,
/// and neither spawn wakes a thread. As the first one parks it sees the tasks, and runs one. It wakes no other thread,
/// since the second one has not parked yet. That parks then, without another look.
#[test]
fn of_two_tasks_that_block_two_threads_one_does_not_begin() {
    let [first_found_none, second_found_none, spawned, begun] =
        [(); 4].map(|()| Arc::new(Barrier::new(2)));
    let [starts, parks] = [(); 2].map(|()| AtomicUsize::new(0));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_start({
            let first_found_none = first_found_none.clone();
            move || {
                if starts.fetch_add(1, Ordering::SeqCst) == 1 {
                    first_found_none.wait();
                }
            }
        })
        .on_thread_park({
            let (second_found_none, spawned) = (second_found_none.clone(), spawned.clone());
            let begun = begun.clone();
            move || {
                let (found_none, next) = match parks.fetch_add(1, Ordering::SeqCst) {
                    0 => (&first_found_none, &spawned),
                    1 => (&second_found_none, &begun),
                    _ => return,
                };
                found_none.wait();
                next.wait();
            }
        })
        .build()
        .expect("a runtime");
    second_found_none.wait();
    let (question, asked) = mpsc::channel();
    let (answer, answered) = mpsc::channel();
    runtime.spawn(async move {
        begun.wait();
        let _ = answer.send(asked.recv());
    });
    runtime.spawn(async move { question.send(7) });
    spawned.wait();
    let patience = Duration::from_millis(500);
    let seen = answered.recv_timeout(patience);
    assert!(seen.is_err(), "the second task has run: {seen:?}");
    // A further task wakes the thread, which then runs both.
    runtime.spawn(async {});
    assert_eq!(answered.recv(), Ok(Ok(7)), "the second task has run");
}
