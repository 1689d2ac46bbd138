//! Stand-alone reproductions, through tokio's own API, of why its sleeps do not claim `answers-sleepers` (T8), and its
//! runtime not `runs-beside-blocked` (G2). They assert the behaviour as it is: once a release changes it, a test fails.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a published crate on this thread: no checker watches"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex};
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

/// Set once, and waited for with an end, so that no change in tokio hangs this program.
#[derive(Default)]
struct Signal(Mutex<bool>, Condvar);

impl Signal {
    fn set(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }

    fn wait(&self) {
        let unset = |set: &mut bool| !*set;
        let waited = self
            .1
            .wait_timeout_while(self.0.lock().unwrap(), LONG, unset);
        drop(waited);
    }
}

const LONG: Duration = Duration::from_secs(20);
const BRIEF: Duration = Duration::from_millis(300);

/// The first thread finds no task, and counts as searching until it is listed as a sleeper. So the second one may not search,
/// and neither spawn wakes a thread. The first one lists itself, sees the tasks, wakes itself, and runs one. It wakes no
/// other thread, since the second one is not listed yet. That parks then without looking again.
#[test]
fn of_two_tasks_that_block_two_threads_one_does_not_begin() {
    let [first_found_none, second_found_none, spawned, begun] =
        [(); 4].map(|()| Arc::new(Signal::default()));
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
                found_none.set();
                next.wait();
            }
        })
        .build()
        .expect("a runtime");
    second_found_none.wait();
    let (question, asked) = mpsc::channel();
    let (answer, answered) = mpsc::channel();
    runtime.spawn(async move {
        begun.set();
        let _ = answer.send(asked.recv());
    });
    runtime.spawn(async move { question.send(7) });
    spawned.set();
    let blocked = answered.recv_timeout(BRIEF);
    // A further task wakes the thread, which then runs both.
    runtime.spawn(async {});
    let woken = answered.recv_timeout(LONG);
    runtime.shutdown_background();
    assert_eq!(blocked, Err(RecvTimeoutError::Timeout));
    assert_eq!(woken, Ok(Ok(7)), "the second task has run");
}

/// What a task spawns last waits in a slot of its thread, from which no other thread takes.
#[test]
fn what_a_task_spawns_last_does_not_begin_while_that_blocks() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime");
    let (question, asked) = mpsc::channel();
    let (answer, answered) = mpsc::channel();
    runtime.spawn(async move {
        tokio::spawn(async move { question.send(7) });
        let _ = answer.send((asked.recv_timeout(BRIEF), asked));
    });
    let (blocked, asked) = answered.recv_timeout(LONG).expect("it has ended");
    let after = asked.recv_timeout(LONG);
    runtime.shutdown_background();
    assert_eq!(blocked, Err(RecvTimeoutError::Timeout));
    assert_eq!(after, Ok(7), "it runs once its spawner has ended");
}

/// What a task wakes last waits there as well.
#[test]
fn what_a_task_wakes_last_does_not_run_while_that_blocks() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime");
    // The asking task may come before the other one waits. Then the other one runs at once, and they try again.
    let blocked = (0..20).any(|_| {
        let (question, mut asked) = tokio::sync::mpsc::channel(1);
        let (begins, begun) = mpsc::channel();
        let (answer, answered) = mpsc::channel();
        let (ends, ended) = mpsc::channel();
        runtime.spawn(async move {
            let _ = begins.send(());
            let _ = answer.send(asked.recv().await);
        });
        begun.recv_timeout(LONG).expect("it has begun");
        runtime.spawn(async move {
            let _ = question.try_send(7);
            let _ = ends.send((answered.recv_timeout(BRIEF), answered));
        });
        let (first, answered) = ended.recv_timeout(LONG).expect("it has ended");
        let is_blocked = first == Err(RecvTimeoutError::Timeout);
        if is_blocked {
            let after = answered.recv_timeout(LONG);
            assert_eq!(after, Ok(Some(7)), "it runs once its waker has ended");
        }
        is_blocked
    });
    runtime.shutdown_background();
    assert!(blocked, "it ran beside the task that woke it");
}
