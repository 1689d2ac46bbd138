//! `work_stealing`: a queue for each thread, from which idle threads steal.
//!
//! A task that a thread of the executor spawns or wakes goes into that thread's own queue. A task spawned or woken
//! elsewhere goes into the common queue. A thread that finds both empty steals half of another thread's queue. The
//! threads of `fixed_pool` share one queue and one lock. Here threads contend only when one of them is idle. Every 61st
//! turn a thread looks at the common queue first. Otherwise tasks that keep waking each other would keep the thread's own
//! queue full.
//!
//! A task is guarded by a lock of its own, and its future is stored there while no thread polls it. Invariants,
//! whenever that lock is free: the task is in one queue, once, if its future is here and it was woken since its last
//! poll began, and otherwise in none. After the end of its executor a task has no future and is never queued again.
//!
//! A thread goes to sleep in two steps: it announces that it sleeps, and then looks at all queues once more. A thread
//! that queues a task does the reverse: it queues, and then checks for sleepers. With a fence between the two steps on
//! both sides, either the sleeper finds the task, or the other thread finds the sleeper (Dekker's argument):
//!
//! | sleeper | thread that queues |
//! | --- | --- |
//! | `asleep += 1`; a called one: `called = false` | push the task |
//! | fence (SeqCst) | fence (SeqCst) |
//! | look at all queues | read `asleep` and `called` |
//!
//! A sleeper that was called is no longer counted as asleep. While it has not heard the call no other is called. Then it
//! looks at all queues, and calls the next one if it leaves tasks there.
//!
//! A thread that steals queues all stolen tasks but the one that it runs, and then checks for sleepers as well.
//! Blocking work goes to threads of its own (`executor/blocking.rs`).
//!
//! Source: Blumofe and Leiserson, "Scheduling multithreaded computations by work stealing", 1999; the queues are
//! crossbeam's, after Chase and Lev, "Dynamic circular work-stealing deque", 2005.

mod sleepers;
mod task;

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::mem::{self, ManuallyDrop};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::thread::available_parallelism;

use flowmeter_harness::executor::{Executors, Spawn};

use super::blocking::BlockingThreads;
use super::slots::Slots;
use crate::own_thread::OwnThread;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Injector, Mutex, Stealer, Worker, contain, order_key, thread_local};

use sleepers::Sleepers;
use task::{Handle, Task, TheFuture};

/// How many turns a thread has before it looks at the common queue first. A prime, as in other schedulers, so that it
/// stays in step with no periodic work.
const TURNS: u32 = 61;

/// A queue for each thread, and one for all.
pub struct WorkStealing {
    spawner: StealingSpawner,
    threads: Vec<OwnThread>,
}

/// Spawns on a [`WorkStealing`] from anywhere, until that is dropped.
#[derive(Clone)]
pub struct StealingSpawner(Arc<Shared>);

/// The state that the executor, its threads, its spawners and its tasks share.
struct Shared {
    /// Identifies the executor.
    key: u64,
    /// All tasks that have not ended; `None` once the executor is closed.
    tasks: Mutex<Option<Slots<Handle>>>,
    common: Injector<Handle>,
    /// One for each thread's own queue.
    stealers: Vec<Stealer<Handle>>,
    sleepers: Sleepers,
    blocking: BlockingThreads,
    panics: AtomicU64,
}

/// The queue of a thread, and the executor that it belongs to.
struct Local {
    key: u64,
    queue: Rc<Worker<Handle>>,
}

thread_local! {
    /// `Some` on a thread of an executor. It needs no drop, so it is still there when the destructor of another
    /// thread-local wakes a task: `work` puts `None` back.
    static HERE: ManuallyDrop<RefCell<Option<Local>>> =
        const { ManuallyDrop::new(RefCell::new(None)) };
}

impl Executors for WorkStealing {
    type Spawner = StealingSpawner;

    fn with_threads(threads: NonZeroUsize) -> Self {
        let queues: Vec<_> = (0..threads.get()).map(|_| Worker::new()).collect();
        let shared = Arc::new(Shared {
            key: order_key(),
            tasks: Mutex::new(Some(Slots::new())),
            common: Injector::new(),
            stealers: queues.iter().map(Worker::stealer).collect(),
            sleepers: Sleepers::new(),
            blocking: BlockingThreads::new(),
            panics: AtomicU64::new(0),
        });
        let mut executor = WorkStealing {
            spawner: StealingSpawner(Arc::clone(&shared)),
            threads: Vec::with_capacity(queues.len()),
        };
        // Each thread belongs to the executor at once. If a later one cannot start, the executor is dropped and ends
        // these.
        for (place, queue) in queues.into_iter().enumerate() {
            let shared = Arc::clone(&shared);
            let thread = OwnThread::start(move || shared.work(place, queue));
            executor.threads.push(thread);
        }
        executor
    }

    /// One thread for each core of the machine.
    fn with_default_threads() -> Option<Self> {
        let cores = available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Some(Self::with_threads(cores))
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawner.spawn(task);
    }

    fn spawner(&self) -> StealingSpawner {
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

impl Spawn for StealingSpawner {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        // A refused one is dropped without the lock: what it holds may spawn.
        let mut future: Option<TheFuture> = Some(Box::pin(task));
        let task = self.0.tasks.lock().as_mut().and_then(|tasks| {
            let future = future.take()?;
            let task = |number| Task::new(Arc::clone(&self.0), number, future);
            Some(Handle::clone(tasks.add(task)))
        });
        if let Some(task) = task {
            task.call();
        }
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        let shared = Arc::clone(&self.0);
        let refused = self.0.blocking.run(Box::new(move || {
            shared.contain(work);
        }));
        drop(refused);
    }
}

impl Drop for WorkStealing {
    fn drop(&mut self) {
        let shared = &self.spawner.0;
        let tasks = shared.tasks.lock().take();
        shared.sleepers.close();
        // From here on no task is queued again. A task that is on a thread is dropped there.
        for task in tasks
            .into_iter()
            .flat_map(|mut tasks| tasks.remove_all(|_| true))
        {
            shared.contain(|| drop(task.end()));
        }
        for work in shared.blocking.close() {
            shared.contain(|| drop(work));
        }
        for thread in &mut self.threads {
            thread.join();
        }
        shared.blocking.join();
        // The tasks hold the state in which the queue lies: without this they would leak.
        let rest = Worker::new();
        while shared.common.steal_into(&rest).is_some() {
            while rest.pop().is_some() {}
        }
    }
}

impl Shared {
    /// The main loop of each thread, until the executor is closed.
    fn work(&self, place: usize, queue: Worker<Handle>) {
        let queue = Rc::new(queue);
        let local = Local {
            key: self.key,
            queue: Rc::clone(&queue),
        };
        HERE.with(|here| here.replace(Some(local)));
        let mut turn = 0;
        let mut was_called = false;
        while self.sleepers.are_open() {
            turn = (turn + 1) % TURNS;
            let next = self.next(place, &queue, turn == 0);
            if mem::take(&mut was_called) && next.is_some() && self.has_work() {
                self.sleepers.call();
            }
            match next {
                Some(task) => self.run(&task),
                None => was_called = self.sleepers.sleep_unless(|| self.has_work()),
            }
        }
        HERE.with(|here| here.replace(None));
        while queue.pop().is_some() {}
    }

    /// The next task of that thread.
    fn next(&self, place: usize, queue: &Worker<Handle>, common_first: bool) -> Option<Handle> {
        let common = || self.announced(place, self.common.steal_into(queue));
        let first = if common_first { common() } else { None };
        let mut others = (1..self.stealers.len()).map(|by| (place + by) % self.stealers.len());
        first.or_else(|| queue.pop()).or_else(common).or_else(|| {
            let stolen = others.find_map(|other| self.stealers[other].steal_into(queue));
            self.announced(place, stolen)
        })
    }

    /// Wakes a thread for the tasks that came with a stolen one. While they were moved they were in no queue, so a
    /// thread that fell asleep then has not seen them.
    fn announced(&self, place: usize, stolen: Option<Handle>) -> Option<Handle> {
        if stolen.is_some() && !self.stealers[place].is_empty() {
            self.sleepers.call();
        }
        stolen
    }

    fn has_work(&self) -> bool {
        !self.common.is_empty() || self.stealers.iter().any(|queue| !queue.is_empty())
    }

    fn run(&self, task: &Handle) {
        let Some(mut future) = task.begin() else {
            return;
        };
        let waker = Waker::from(Handle::clone(task));
        // The closure owns the future, and drops it when it is ready or panics.
        let pending = self.contain(move || {
            let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
            polled.is_pending().then_some(future)
        });
        match pending.flatten() {
            Some(future) => {
                if let Some(homeless) = task.suspend(future) {
                    self.contain(|| drop(homeless));
                }
            }
            None => self.forget(task),
        }
    }

    /// Forgets a task that has ended by itself.
    fn forget(&self, task: &Handle) {
        if let Some(tasks) = &mut *self.tasks.lock() {
            tasks.remove(task.number());
        }
    }

    /// Queues a task: in this thread's own queue if the thread belongs to this executor, else in the common one.
    fn queue(&self, task: Handle) {
        let elsewhere = HERE.with(|here| match &*here.borrow() {
            Some(local) if local.key == self.key => {
                local.queue.push(task);
                None
            }
            _ => Some(task),
        });
        if let Some(task) = elsewhere {
            self.common.push(task);
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

impl fmt::Debug for WorkStealing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = self.threads.len();
        f.debug_struct("WorkStealing")
            .field("threads", &threads)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for StealingSpawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StealingSpawner")
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc;
    use std::task::Poll;
    use std::time::Duration;

    use super::*;
    use crate::own_thread::shortage;

    const ONE: NonZeroUsize = NonZeroUsize::MIN;

    #[test]
    fn an_executor_whose_third_thread_cannot_start_leaves_none() {
        let three = ONE.saturating_add(2);
        let (made, running) = shortage::after(2, || WorkStealing::with_threads(three));
        assert!(made.is_none(), "it needs three threads");
        assert_eq!(running, 0, "threads of an executor that there is not");
    }

    /// The spawned task is in the common queue. It would wait for ever if the waking task always came first.
    #[test]
    fn a_task_that_goes_on_waking_itself_leaves_others_their_turns() {
        const TURNS: u32 = 1_000_000;
        let executor = WorkStealing::with_threads(ONE);
        let (begins, begun) = mpsc::channel();
        let (ends, turns) = mpsc::channel();
        let [spawned, came] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let (is_there, seen) = (Arc::clone(&spawned), Arc::clone(&came));
        executor.spawn(async move {
            let _ = begins.send(());
            let mut turn = 0;
            poll_fn(|context| {
                if turn == TURNS || seen.load(Ordering::SeqCst) {
                    return Poll::Ready(());
                }
                turn += u32::from(is_there.load(Ordering::SeqCst));
                context.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
            let _ = ends.send(turn);
        });
        begun.recv().expect("it begins");
        executor.spawn(async move { came.store(true, Ordering::SeqCst) });
        spawned.store(true, Ordering::SeqCst);
        let turns = turns.recv().expect("it ends");
        assert!(turns < TURNS, "the other had no turn in {turns}");
    }

    /// The spawned task is in the queue of the thread that its parent blocks.
    #[test]
    fn a_thread_with_nothing_to_do_steals_from_one_that_is_held_up() {
        let executor = WorkStealing::with_threads(ONE.saturating_add(1));
        let spawner = executor.spawner();
        let (ends, stolen) = mpsc::channel();
        executor.spawn(async move {
            let (runs, ran) = mpsc::channel();
            spawner.spawn(async move {
                let _ = runs.send(());
            });
            let _ = ends.send(ran.recv_timeout(Duration::from_secs(10)));
        });
        assert_eq!(stolen.recv(), Ok(Ok(())), "no other thread ran it");
    }
}
