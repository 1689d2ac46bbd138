//! Runs tasks, each on a thread of its own.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};

/// Runs tasks. Dropped, it drops those that wait, and waits for their threads.
#[derive(Debug, Default)]
pub struct Crew(Spawner);

/// Spawns on a crew from elsewhere, until that is dropped.
#[derive(Clone, Debug, Default)]
pub struct Spawner(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// `None` at the end.
    threads: Mutex<Option<Vec<JoinHandle<()>>>>,
    panics: AtomicU64,
}

/// Wakes the thread of a task.
struct Turn {
    woken: AtomicBool,
    thread: Thread,
}

impl Crew {
    /// Spawns on this crew.
    pub fn spawner(&self) -> &Spawner {
        &self.0
    }

    /// How many tasks and pieces of work have panicked.
    pub fn panics(&self) -> u64 {
        self.0.0.panics.load(Ordering::Relaxed)
    }
}

impl Spawner {
    /// Runs a task. At the end of the crew it is dropped where it waits.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let shared = Arc::clone(&self.0);
        self.run(move || {
            let mut task = pin!(task);
            let turn = Arc::new(Turn {
                woken: AtomicBool::new(false),
                thread: thread::current(),
            });
            let waker = Waker::from(Arc::clone(&turn));
            let mut context = Context::from_waker(&waker);
            while task.as_mut().poll(&mut context).is_pending() && shared.waits_for(&turn) {}
        });
    }

    /// Runs work that may block its thread.
    pub fn run(&self, work: impl FnOnce() + Send + 'static) {
        let mut threads = self.0.locked();
        let Some(running) = &mut *threads else {
            // The drop of the work may spawn, so it has to come after the lock.
            drop(threads);
            return;
        };
        let shared = Arc::clone(&self.0);
        running.retain(|thread| !thread.is_finished());
        running.push(thread::spawn(move || {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
                shared.panics.fetch_add(1, Ordering::Relaxed);
                // Its drop might panic as well.
                std::mem::forget(panic);
            }
        }));
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, Option<Vec<JoinHandle<()>>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits to be woken; `false` at the end of the crew.
    fn waits_for(&self, turn: &Turn) -> bool {
        loop {
            if self.locked().is_none() {
                return false;
            }
            if turn.woken.swap(false, Ordering::Acquire) {
                return true;
            }
            thread::park();
        }
    }
}

impl Default for Shared {
    fn default() -> Self {
        Shared {
            threads: Mutex::new(Some(Vec::new())),
            panics: AtomicU64::new(0),
        }
    }
}

impl Wake for Turn {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        let threads = self.0.0.locked().take().unwrap_or_default();
        for thread in &threads {
            thread.thread().unpark();
        }
        for thread in threads {
            // Within a task the thread must not wait for itself.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}
