//! `work_stealing`: a queue for each thread, from which those that have nothing to do steal.
//!
//! What a thread of the executor spawns or wakes goes into its own queue, whatever others do into one that all take from;
//! a thread without either takes half of another's. Beside `fixed_pool`, whose threads share one queue and one lock, what
//! is woken stays where it is warm, and threads meet only where one of them has nothing to do. Now and then a
//! thread looks at the common queue first: tasks that go on waking each other would keep theirs full.
//!
//! A task is guarded by a lock of its own, and its future stands there whenever no thread polls it.
//! Invariants, whenever that is free: the task is in one queue, once, if its future is here and it was woken since its last
//! poll began, and else in none. One whose executor has ended has no future, and is never queued again.
//!
//! A thread goes to sleep in two steps: it says so, and then looks at all queues once more. Whoever queues does the
//! reverse: it queues, and then asks whether anybody sleeps. With a fence between the two steps of each, either the thread
//! finds the task, or whoever queued it finds the thread (Dekker's argument). Whoever steals several queues all but the one
//! that it runs, and asks as well. Work that blocks goes to threads of its own
//! (`executor/blocking.rs`).
//!
//! Source: Blumofe and Leiserson, "Scheduling multithreaded computations by work stealing", 1999; the queues are
//! crossbeam's, after Chase and Lev, "Dynamic circular work-stealing deque", 2005.

mod sleepers;
mod task;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::thread::available_parallelism;

use flowmeter_harness::executor::{Executors, Spawn};

use super::blocking::BlockingThreads;
use crate::own_thread::OwnThread;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Injector, Mutex, Stealer, Worker, contain, order_key, thread_local};

use sleepers::Sleepers;
use task::{Handle, Task};

/// How many tasks a thread takes from its own queue until it looks at the common one first. A prime, as in other
/// schedulers, so that it is in step with nothing.
const TURNS: u32 = 61;

/// A queue for each thread, and one for all.
pub struct WorkStealing {
    spawner: StealingSpawner,
    threads: Vec<OwnThread>,
}

/// Spawns on a [`WorkStealing`] from anywhere, until that is dropped.
#[derive(Clone)]
pub struct StealingSpawner(Arc<Shared>);

/// What the executor, its threads, its spawners and its tasks share.
struct Shared {
    /// Which executor this is.
    key: u64,
    /// All that have not ended, by number; `None` once the executor is closed.
    tasks: Mutex<Option<BTreeMap<u64, Handle>>>,
    common: Injector<Handle>,
    /// Of the threads' own queues.
    stealers: Vec<Stealer<Handle>>,
    sleepers: Sleepers,
    blocking: BlockingThreads,
    panics: AtomicU64,
}

/// The queue of a thread, and of which executor.
struct Local {
    key: u64,
    queue: Rc<Worker<Handle>>,
}

thread_local! {
    /// Of this thread, where it is one of an executor's. It needs no drop, so that it is there when the destructor of another
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
            tasks: Mutex::new(Some(BTreeMap::new())),
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
        // Each is the executor's at once: where the next one cannot start, the executor is dropped and ends these.
        for (place, queue) in queues.into_iter().enumerate() {
            let shared = Arc::clone(&shared);
            let thread = OwnThread::start(move || shared.work(place, queue));
            executor.threads.push(thread);
        }
        executor
    }

    /// As many as the machine has cores.
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
        // Relaxed: a count, nothing is published through it.
        self.spawner.0.panics.load(Ordering::Relaxed)
    }
}

impl Spawn for StealingSpawner {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let number = order_key();
        let task = Task::new(Arc::clone(&self.0), number, Box::pin(task));
        let is_open = match &mut *self.0.tasks.lock() {
            Some(tasks) => tasks.insert(number, Handle::clone(&task)).is_none(),
            None => false,
        };
        if is_open {
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
        // None of them is queued again from here on; those that are on a thread are dropped there.
        for task in tasks.into_iter().flat_map(BTreeMap::into_values) {
            shared.contain(|| drop(task.end()));
        }
        for work in shared.blocking.close() {
            shared.contain(|| drop(work));
        }
        for thread in &mut self.threads {
            thread.join();
        }
        shared.blocking.join();
        // They hold what they lie in.
        let rest = Worker::new();
        while shared.common.steal_into(&rest).is_some() {
            while rest.pop().is_some() {}
        }
    }
}

impl Shared {
    /// What each thread does until the executor is closed.
    fn work(&self, place: usize, queue: Worker<Handle>) {
        let queue = Rc::new(queue);
        let local = Local {
            key: self.key,
            queue: Rc::clone(&queue),
        };
        HERE.with(|here| here.replace(Some(local)));
        let mut turn = 0;
        while self.sleepers.are_open() {
            turn = (turn + 1) % TURNS;
            match self.next(place, &queue, turn == 0) {
                Some(task) => self.run(&task),
                None => self.sleepers.sleep_unless(|| self.has_work()),
            }
        }
        HERE.with(|here| here.replace(None));
        while queue.pop().is_some() {}
    }

    /// Whose turn it is on that thread.
    fn next(&self, place: usize, queue: &Worker<Handle>, common_first: bool) -> Option<Handle> {
        let common = || self.announced(place, self.common.steal_into(queue));
        let first = if common_first { common() } else { None };
        let mut others = (1..self.stealers.len()).map(|by| (place + by) % self.stealers.len());
        first.or_else(|| queue.pop()).or_else(common).or_else(|| {
            let stolen = others.find_map(|other| self.stealers[other].steal_into(queue));
            self.announced(place, stolen)
        })
    }

    /// Calls somebody for what came with a stolen task: while it was moved it was in no queue, and who fell asleep then
    /// has not seen it.
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
        // The future goes into the closure, and is dropped in there when it is ready or panics.
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

    /// It has ended by itself.
    fn forget(&self, task: &Handle) {
        if let Some(tasks) = &mut *self.tasks.lock() {
            tasks.remove(&task.number());
        }
    }

    /// Puts a task where it is found: into this thread's queue, if it is one of ours.
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

    /// Runs what may panic; a panic is counted and goes no further.
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

    /// In the common queue that one would wait for ever, if the other came back to its thread's own first.
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

    /// What it has spawned lies in the queue of the thread that it holds up.
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
        assert_eq!(stolen.recv(), Ok(Ok(())), "nobody else ran it");
    }
}
