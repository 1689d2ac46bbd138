//! `fixed_pool`: core.async's pool of 2 + cores threads, on which its go blocks run.
//!
//! One lock guards the run queue and every task. A task's future is stored there while no thread polls it. So
//! a task is in one place at a time: waiting, queued or on a thread. A wake while it is on a thread queues it
//! once more, after the poll. A woken task may be left to the thread that woke it (`watch.rs`). Blocking work goes to
//! threads of its own (`executor/blocking.rs`).
//!
//! Source: `clojure.core.async.impl.exec.threadpool`, in its first size of 2 + cores; version 1.5.648 has 8
//! threads instead.

mod task;
mod watch;

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::ptr;
use std::task::Context;
use std::thread::available_parallelism;

use flowmeter_harness::executor::{Executors, Spawn};

use super::blocking::BlockingThreads;
use crate::own_thread::OwnThread;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{
    Arc, Condvar, Mutex, MutexGuard, contain, spin_for, thread_local, wait_costs, yield_now,
};

use task::{Tasks, TheFuture, Turn};

/// A fixed number of threads that share one run queue.
pub struct FixedPool {
    spawner: PoolSpawner,
    threads: Vec<OwnThread>,
}

/// Spawns on a [`FixedPool`] from anywhere, until that is dropped.
#[derive(Clone)]
pub struct PoolSpawner(Arc<Shared>);

/// For how many round trips between cores a task stays in the queue before the watcher takes it. A thread on another
/// core would get it no sooner (docs/lab/2026-11-30-a-woken-task-stays.md).
const HELD_UP_TRIPS: u32 = 8;

thread_local! {
    /// The address of the pool that this thread belongs to; elsewhere null. In std it needs no drop, so it is there in
    /// the destructors of other thread-locals. It is null again at the end, since another pool may get the address.
    static HERE: Cell<*const ()> = const { Cell::new(ptr::null()) };
}

/// The state that the pool, its threads, its spawners and its wakers share.
struct Shared {
    tasks: Mutex<Tasks>,
    /// A waiting thread was called, or the pool closed. A notification is a system call, so none is made while a thread
    /// was called and does not run yet.
    changed: Condvar,
    blocking: BlockingThreads,
    panics: AtomicU64,
}

impl FixedPool {
    /// A pool of two threads more than the machine has cores.
    pub fn new() -> Self {
        let cores = available_parallelism().map_or(1, NonZeroUsize::get);
        Self::with_threads(NonZeroUsize::MIN.saturating_add(cores + 1))
    }
}

impl Default for FixedPool {
    fn default() -> Self {
        Self::new()
    }
}

impl Executors for FixedPool {
    type Spawner = PoolSpawner;

    fn with_threads(threads: NonZeroUsize) -> Self {
        let shared = Arc::new(Shared {
            tasks: Mutex::new(Tasks::new(threads.get())),
            changed: Condvar::new(),
            blocking: BlockingThreads::new(),
            panics: AtomicU64::new(0),
        });
        let mut pool = FixedPool {
            threads: Vec::with_capacity(threads.get()),
            spawner: PoolSpawner(Arc::clone(&shared)),
        };
        // Each thread belongs to the pool at once. If a later one cannot start, the pool is dropped and ends
        // these.
        for _ in 0..threads.get() {
            let shared = Arc::clone(&shared);
            pool.threads.push(OwnThread::start(move || shared.work()));
        }
        pool
    }

    fn with_default_threads() -> Option<Self> {
        Some(Self::new())
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawner.spawn(task);
    }

    fn spawner(&self) -> PoolSpawner {
        self.spawner.clone()
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.spawner.spawn_blocking(work);
    }

    fn panics(&self) -> u64 {
        // Relaxed: a counter that publishes nothing.
        self.spawner.0.panics.load(Ordering::Relaxed)
    }
}

impl Spawn for PoolSpawner {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        Shared::spawn(&self.0, Box::pin(task));
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        let shared = Arc::clone(&self.0);
        let refused = self.0.blocking.run(Box::new(move || {
            shared.contain(work);
        }));
        drop(refused);
    }
}

impl Drop for FixedPool {
    fn drop(&mut self) {
        let shared = &self.spawner.0;
        let waiting = shared.tasks.lock().close();
        shared.changed.notify_all();
        // Outside the lock: what a task holds may wake others, or spawn.
        for task in waiting {
            shared.contain(|| drop(task));
        }
        for work in shared.blocking.close() {
            shared.contain(|| drop(work));
        }
        for thread in &mut self.threads {
            thread.join();
        }
        shared.blocking.join();
    }
}

impl Shared {
    fn spawn(shared: &Arc<Self>, future: TheFuture) {
        let waker = |number| task::waker(Arc::clone(shared), number);
        let added = shared.tasks.lock().add(future, waker);
        match added {
            Ok(true) => shared.changed.notify_one(),
            Ok(false) => {}
            Err(future) => drop(future),
        }
    }

    fn wake(&self, number: u64) {
        let by_own_thread = HERE.with(|here| here.get() == self.address());
        let called = self.tasks.lock().wake(number, by_own_thread);
        if called {
            self.changed.notify_one();
        }
    }

    fn address(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    fn work(&self) {
        HERE.with(|here| here.set(self.address()));
        self.take_turns();
        HERE.with(|here| here.set(ptr::null()));
    }

    /// The main loop of each thread, until the pool closes.
    fn take_turns(&self) {
        let mut tasks = self.tasks.lock();
        while tasks.is_open() {
            let Some(turn) = tasks.next() else {
                tasks = self.rest(tasks);
                continue;
            };
            drop(tasks);
            let Turn {
                number,
                mut future,
                waker,
                notifies,
            } = turn;
            if notifies {
                self.changed.notify_one();
            }
            // The closure owns the future, and drops it when it is ready or panics.
            let pending = self.contain(move || {
                let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
                polled.is_pending().then_some(future)
            });
            tasks = self.tasks.lock();
            let Some(future) = pending.flatten() else {
                tasks.end(number);
                continue;
            };
            if let Some(homeless) = tasks.suspend(number, future) {
                drop(tasks);
                self.contain(|| drop(homeless));
                tasks = self.tasks.lock();
            }
        }
    }

    /// Waits until the thread is called, the pool closes, or tasks are held up while it watches.
    fn rest<'a>(&'a self, mut tasks: MutexGuard<'a, Tasks>) -> MutexGuard<'a, Tasks> {
        let mut look = tasks.rest();
        loop {
            let is_due;
            (tasks, is_due) = self.changed.wait_until(tasks, look);
            if tasks.goes_on(look) {
                return tasks;
            }
            if !is_due {
                continue;
            }
            if let Some(turns) = tasks.turns_if_queued() {
                drop(tasks);
                match wait_costs() {
                    Some(costs) => spin_for(HELD_UP_TRIPS * costs.round_trip_nanos),
                    // A single core: the other thread needs it.
                    None => yield_now(),
                }
                tasks = self.tasks.lock();
                if tasks.goes_on(look) || tasks.are_held_up(turns) {
                    return tasks;
                }
            }
            look = tasks.next_look();
        }
    }

    /// Runs what may panic; a panic is counted and does not propagate.
    fn contain<R>(&self, work: impl FnOnce() -> R) -> Option<R> {
        let done = contain(work);
        if done.is_none() {
            // Relaxed: as in `panics`.
            self.panics.fetch_add(1, Ordering::Relaxed);
        }
        done
    }
}

impl fmt::Debug for FixedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = self.threads.len();
        f.debug_struct("FixedPool")
            .field("threads", &threads)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PoolSpawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PoolSpawner")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own_thread::shortage;

    #[test]
    fn a_new_pool_has_two_threads_more_than_cores() {
        let cores = available_parallelism().expect("the system tells").get();
        assert_eq!(FixedPool::new().threads.len(), cores + 2);
    }

    #[test]
    fn a_pool_whose_third_thread_cannot_start_leaves_none() {
        let three = NonZeroUsize::MIN.saturating_add(2);
        let (made, running) = shortage::after(2, || FixedPool::with_threads(three));
        assert!(made.is_none(), "it needs three threads");
        assert_eq!(running, 0, "threads of a pool that there is not");
    }
}
