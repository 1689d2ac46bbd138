//! smol's executor on threads: async-executor runs the tasks, and blocking runs the work that blocks its thread.
//!
//! async-executor has no threads of its own: a thread that calls `Executor::run` lends itself to it. The adapter starts
//! the number of threads that it is asked for. Each runs the executor inside async-io's `block_on`, as smol's own
//! `spawn` does, and so drives async-io's timers while it waits. Blocking work goes to `blocking::unblock`. Its threads
//! belong to the program, not to the executor.
//!
//! How these crates do what [`Executors`] asks of a drop:
//!
//! * `run` ends when the future that it is given is ready, and its thread ends with it.
//! * A dropped `Executor` wakes its waiting tasks, empties its queue, and so drops the tasks, except one that another
//!   thread is waking at that moment (docs/peers.md).
//! * `Task::cancel` drops work that has not begun, and waits for work that has.
//! * A task that another thread spawns during the drop is dropped when that call returns.

use ::std::cell::Cell;
use ::std::collections::HashMap;
use ::std::fmt;
use ::std::num::NonZeroUsize;
use ::std::sync::Weak;

use ::async_channel::{Receiver, Sender};
use ::async_executor::Executor;
use ::async_io::block_on;
use ::blocking::{Task, unblock};
use flowmeter_harness::executor::{Executors, Spawn};

use super::panic_watch::Panics;
use crate::own_thread::OwnThread;
use crate::sync::{Arc, Mutex, contain, order_key, thread_local};

/// async-executor with threads of its own.
pub struct Smol {
    /// A drop gives this up first. The threads then hold the last references.
    executor: Option<Arc<Executor<'static>>>,
    spawner: SmolSpawner,
    threads: Vec<OwnThread>,
    /// Closing it ends the threads.
    end: Sender<()>,
}

/// Spawns on a [`Smol`] from anywhere, until that is dropped.
#[derive(Clone)]
pub struct SmolSpawner {
    executor: Weak<Executor<'static>>,
    works: Arc<Mutex<Works>>,
    panics: Panics,
}

/// Blocking work that is not over, by its number. Empty once the executor is dropped.
struct Works {
    open: bool,
    tasks: HashMap<u64, Task<()>>,
}

thread_local! {
    /// The number of the work that this thread is doing; 0 for none.
    static DOING: Cell<u64> = const { Cell::new(0) };
}

impl Smol {
    fn started(threads: NonZeroUsize, begin: impl Fn() + Send + Sync + 'static) -> Self {
        let executor = Arc::new(Executor::new());
        let (end, ended) = ::async_channel::bounded(1);
        let begin = Arc::new(begin);
        let mut smol = Smol {
            threads: Vec::with_capacity(threads.get()),
            spawner: SmolSpawner {
                executor: Arc::downgrade(&executor),
                works: Arc::new(Mutex::new(Works {
                    open: true,
                    tasks: HashMap::new(),
                })),
                panics: Panics::default(),
            },
            executor: Some(Arc::clone(&executor)),
            end,
        };
        // Each thread is stored at once. If the next one cannot start, dropping the executor ends these.
        for _ in 0..threads.get() {
            let (executor, ended) = (Arc::clone(&executor), ended.clone());
            let begin = Arc::clone(&begin);
            smol.threads.push(OwnThread::start(move || {
                begin();
                run(&executor, &ended);
            }));
        }
        smol
    }
}

/// What each thread does until the end.
fn run(executor: &Executor<'static>, ended: &Receiver<()>) {
    // Nothing is ever sent, so the result is that the channel was closed.
    let _ = block_on(executor.run(ended.recv()));
}

impl Spawn for SmolSpawner {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let Some(executor) = self.executor.upgrade() else {
            return;
        };
        let watch = self.panics.watch();
        let watched = async move {
            let _watch = watch;
            task.await;
        };
        executor.spawn(watched).detach();
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        let number = order_key();
        let watch = self.panics.watch();
        let works = Arc::clone(&self.works);
        let numbered = move || {
            DOING.with(|doing| doing.set(number));
            contain(move || {
                let _watch = watch;
                work();
            });
            DOING.with(|doing| doing.set(0));
            // Dropped outside the lock, because that may drop what the executor's owner waits for.
            let over = works.lock().tasks.remove(&number);
            if let Some(task) = over {
                task.detach();
            }
        };
        // With the lock held, so that work that ends at once finds its task in the map.
        let mut works = self.works.lock();
        if works.open {
            works.tasks.insert(number, unblock(numbered));
        } else {
            drop(works);
            drop(numbered);
        }
    }
}

impl Executors for Smol {
    type Spawner = SmolSpawner;

    fn with_threads(threads: NonZeroUsize) -> Self {
        Smol::started(threads, || ())
    }

    fn with_threads_beginning(
        threads: NonZeroUsize,
        begin: impl Fn() + Send + Sync + 'static,
    ) -> Option<Self> {
        Some(Smol::started(threads, begin))
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawner.spawn(task);
    }

    fn spawner(&self) -> SmolSpawner {
        self.spawner.clone()
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.spawner.spawn_blocking(work);
    }

    fn panics(&self) -> u64 {
        self.spawner.panics.count()
    }
}

impl Drop for Smol {
    fn drop(&mut self) {
        self.end.close();
        for thread in &mut self.threads {
            thread.join();
        }
        // Before the wait for blocking work, which may wait for something that a task holds. If this thread runs one of
        // the executor's tasks, it keeps the executor until that task comes to its next wait.
        let executor = self.executor.take();
        contain(|| drop(executor));
        let works = {
            let mut works = self.spawner.works.lock();
            works.open = false;
            ::std::mem::take(&mut works.tasks)
        };
        for (number, task) in works {
            if DOING.with(Cell::get) == number {
                task.detach();
            } else {
                contain(|| block_on(task.cancel()));
            }
        }
    }
}

impl fmt::Debug for Smol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = self.threads.len();
        f.debug_struct("Smol")
            .field("threads", &threads)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SmolSpawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmolSpawner").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own_thread::shortage;

    #[test]
    fn an_executor_whose_third_thread_cannot_start_leaves_none() {
        let three = NonZeroUsize::MIN.saturating_add(2);
        let (made, running) = shortage::after(2, || <Smol as Executors>::with_threads(three));
        assert!(made.is_none(), "it needs three threads");
        assert_eq!(running, 0, "threads of an executor that there is not");
    }
}
