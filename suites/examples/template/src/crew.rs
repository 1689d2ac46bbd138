//! Runs tasks, each on a thread of its own.

use std::future::Future;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};
use std::thread::{self, JoinHandle};

/// Runs tasks. Dropped, it drops those that wait, and waits for their threads.
#[derive(Debug, Default)]
pub struct Crew(Spawner);

/// Spawns on a crew from elsewhere, until that is dropped.
#[derive(Clone, Debug, Default)]
pub struct Spawner(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Tasks that wait check again at every change.
    changed: Condvar,
    panics: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    threads: Vec<JoinHandle<()>>,
    ended: bool,
}

struct Turn {
    woken: AtomicBool,
    shared: Arc<Shared>,
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
                shared,
            });
            let waker = Waker::from(Arc::clone(&turn));
            let mut context = Context::from_waker(&waker);
            while task.as_mut().poll(&mut context).is_pending() && turn.comes() {}
        });
    }

    /// Runs work that may block its thread.
    pub fn run(&self, work: impl FnOnce() + Send + 'static) {
        let mut state = self.0.locked();
        if state.ended {
            // The drop of the work may spawn, so it has to come after the lock.
            drop(state);
            return;
        }
        let shared = Arc::clone(&self.0);
        state.threads.retain(|thread| !thread.is_finished());
        state.threads.push(thread::spawn(move || {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
                shared.panics.fetch_add(1, Ordering::Relaxed);
                // Its drop might panic as well.
                std::mem::forget(panic);
            }
        }));
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Waits to be woken; `false` at the end of the crew.
    fn comes(&self) -> bool {
        let mut state = self.shared.locked();
        while !state.ended && !self.woken.swap(false, Ordering::Relaxed) {
            let woken = self.shared.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        !state.ended
    }
}

impl Wake for Turn {
    fn wake(self: Arc<Self>) {
        let state = self.shared.locked();
        self.woken.store(true, Ordering::Relaxed);
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        let shared = &self.0.0;
        let mut state = shared.locked();
        state.ended = true;
        let threads = take(&mut state.threads);
        drop(state);
        shared.changed.notify_all();
        for thread in threads {
            // Within a task the thread must not wait for itself.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}
