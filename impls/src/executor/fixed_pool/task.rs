//! The tasks of a pool, guarded by its lock.
//!
//! Invariant, whenever the lock is free: a task's number is in the queue exactly when its future is here and
//! it was woken since its last poll began. Numbers are never reused, so a waker that outlives its task has
//! no effect.
//!
//! Invariant of the calls: while tasks are queued and a thread waits that was not called, another is called and does not
//! run yet. So at most one notification is on its way. The thread that it wakes calls the next one, if tasks are left.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
#[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
use std::sync::Arc as WakerArc;
use std::task::{Wake, Waker};

use crate::sync::{Arc, Track};

use super::super::slots::Slots;
use super::Shared;

/// The future of a task.
pub(super) type TheFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One task.
pub(super) struct Task {
    /// `None` while a thread polls it.
    future: Option<TheFuture>,
    /// Whether it was woken since its last poll began.
    woken: bool,
    waker: Waker,
}

/// A task whose turn it is.
pub(super) struct Turn {
    pub(super) number: u64,
    pub(super) future: TheFuture,
    pub(super) waker: Waker,
    /// Whether to notify a thread, for the tasks that are left.
    pub(super) notifies: bool,
}

/// All tasks that have not ended, and the queue of those to run.
pub(super) struct Tasks {
    open: bool,
    all: Slots<Task>,
    queue: VecDeque<u64>,
    /// Threads that wait and were not called yet.
    idle: usize,
    /// Calls that no waiting thread has heard yet.
    calls: usize,
}

impl Tasks {
    pub(super) fn new() -> Self {
        Tasks {
            open: true,
            all: Slots::new(),
            queue: VecDeque::new(),
            idle: 0,
            calls: 0,
        }
    }

    /// A thread is about to wait.
    pub(super) fn rest(&mut self) {
        self.idle += 1;
    }

    /// Whether a thread that waited goes on: it was called, or the pool has closed.
    pub(super) fn goes_on(&mut self) -> bool {
        match self.calls.checked_sub(1) {
            Some(calls) => self.calls = calls,
            None if self.open => return false,
            None => self.idle -= 1,
        }
        true
    }

    /// Calls a thread for the tasks in the queue. `false` if none waits, or one was called and does not run yet: that one
    /// calls the next.
    fn call(&mut self) -> bool {
        let calls = !self.queue.is_empty() && self.idle > 0 && self.calls == 0;
        self.idle -= usize::from(calls);
        self.calls += usize::from(calls);
        calls
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Queues a new task. `waker` makes the waker of that number. Returns whether to notify a thread.
    ///
    /// # Errors
    /// The future, when the pool is closed.
    pub(super) fn add(
        &mut self,
        future: TheFuture,
        waker: impl FnOnce(u64) -> Waker,
    ) -> Result<bool, TheFuture> {
        if !self.open {
            return Err(future);
        }
        let (all, queue) = (&mut self.all, &mut self.queue);
        all.add(|number| {
            queue.push_back(number);
            Task {
                future: Some(future),
                woken: true,
                waker: waker(number),
            }
        });
        Ok(self.call())
    }

    /// Wakes a task; returns whether to notify a thread.
    pub(super) fn wake(&mut self, number: u64) -> bool {
        let Some(task) = self.all.get_mut(number).filter(|task| !task.woken) else {
            return false;
        };
        task.woken = true;
        let waits = task.future.is_some();
        if waits {
            self.queue.push_back(number);
        }
        waits && self.call()
    }

    /// Takes out the first task in the queue.
    pub(super) fn next(&mut self) -> Option<Turn> {
        let number = self.queue.pop_front()?;
        let task = self.all.get_mut(number)?;
        task.woken = false;
        let (future, waker) = (task.future.take()?, task.waker.clone());
        Some(Turn {
            number,
            future,
            waker,
            notifies: self.call(),
        })
    }

    /// Takes a pending future back, and queues its task behind all others if it was woken meanwhile. If the
    /// pool is closed it returns the future, to be dropped outside the lock.
    pub(super) fn suspend(&mut self, number: u64, future: TheFuture) -> Option<TheFuture> {
        if !self.open {
            self.end(number);
            return Some(future);
        }
        let task = self.all.get_mut(number).expect("it has not ended");
        task.future = Some(future);
        if task.woken {
            // No notification: the thread that calls this looks at the queue next.
            self.queue.push_back(number);
        }
        None
    }

    /// Forgets a task that has no future any more.
    pub(super) fn end(&mut self, number: u64) {
        self.all.remove(number);
    }

    /// Ends everything; returns the tasks that are on no thread.
    pub(super) fn close(&mut self) -> Vec<Task> {
        self.open = false;
        self.queue.clear();
        self.all.remove_all(|task| task.future.is_some())
    }
}

/// Queues one task of a pool.
struct PoolWaker {
    shared: Arc<Shared>,
    number: u64,
    /// Loom and shuttle report it if it leaks.
    _alive: Track<()>,
}

// The checkers need not see the count of std's Arc: all that is reached through it has a lock of its own.
#[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
impl Wake for PoolWaker {
    fn wake(self: WakerArc<Self>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &WakerArc<Self>) {
        self.shared.wake(self.number);
    }
}

/// The waker of that task.
#[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
pub(super) fn waker(shared: Arc<Shared>, number: u64) -> Waker {
    Waker::from(WakerArc::new(PoolWaker {
        shared,
        number,
        _alive: Track::new(()),
    }))
}
