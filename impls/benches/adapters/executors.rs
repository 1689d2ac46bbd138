//! Executors: the adapters against the crates' own handles, with two threads. A plain thread spawns tasks that end at
//! once, and waits for the last one. The adapter counts panics, which takes a guard in each task.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use async_executor::Executor;
use flowmeter_harness::executor::Executors;
use flowmeter_impls::peers::smol::Smol;
use flowmeter_impls::peers::tokio_executor::Tokio;
use tokio::runtime::Builder;

use super::Pair;

const THREADS: usize = 2;

/// Tasks that have not run. One loop runs at a time, so they share it, and a task holds nothing.
static LEFT: AtomicU64 = AtomicU64::new(0);
static WAITING: Mutex<Option<Thread>> = Mutex::new(None);

/// Spawns that many tasks with `spawn`, and waits until all have run.
fn spawned(tasks: u64, mut spawn: impl FnMut()) -> Duration {
    LEFT.store(tasks, Ordering::Release);
    *WAITING.lock().expect("no panic") = Some(thread::current());
    let start = Instant::now();
    for _ in 0..tasks {
        spawn();
    }
    while LEFT.load(Ordering::Acquire) > 0 {
        thread::park();
    }
    start.elapsed()
}

/// The work of a task: to be counted.
async fn task() {
    if LEFT.fetch_sub(1, Ordering::AcqRel) == 1
        && let Some(thread) = &*WAITING.lock().expect("no panic")
    {
        thread.unpark();
    }
}

fn adapter<E: Executors>(tasks: u64) -> Duration {
    let executor = E::with_threads(NonZeroUsize::new(THREADS).expect("two"));
    spawned(tasks, || executor.spawn(task()))
}

fn tokio(tasks: u64) -> Duration {
    let mut builder = Builder::new_multi_thread();
    let builder = builder.worker_threads(THREADS).enable_time();
    let runtime = builder.build().expect("room for the threads");
    spawned(tasks, || drop(runtime.spawn(task())))
}

fn smol(tasks: u64) -> Duration {
    let executor = Arc::new(Executor::new());
    let (end, ended) = async_channel::bounded::<()>(1);
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (executor, ended) = (Arc::clone(&executor), ended.clone());
            thread::spawn(move || async_io::block_on(executor.run(ended.recv())))
        })
        .collect();
    let took = spawned(tasks, || executor.spawn(task()).detach());
    end.close();
    for thread in threads {
        let _closed = thread.join().expect("no task panics");
    }
    took
}

pub fn pairs() -> [Pair; 2] {
    [
        Pair {
            name: "spawn       tokio",
            adapter: adapter::<Tokio>,
            bare: tokio,
        },
        Pair {
            name: "spawn       smol",
            adapter: adapter::<Smol>,
            bare: smol,
        },
    ]
}
