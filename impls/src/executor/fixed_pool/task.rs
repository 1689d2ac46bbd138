//! The tasks of a pool, guarded by its lock.
//!
//! Invariant, whenever the lock is free: a task's number is in the queue exactly when its future is here and
//! it was woken since its last poll began. Numbers are never reused, so a waker that outlives its task has
//! no effect.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
#[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
use std::sync::Arc as WakerArc;
use std::task::{Wake, Waker};

use crate::sync::{Arc, Track};

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

/// All tasks that have not ended, and the queue of those to run.
pub(super) struct Tasks {
    open: bool,
    all: BTreeMap<u64, Task>,
    queue: VecDeque<u64>,
}

impl Tasks {
    pub(super) fn new() -> Self {
        Tasks {
            open: true,
            all: BTreeMap::new(),
            queue: VecDeque::new(),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Queues a new task; returns its future when the pool is closed.
    pub(super) fn add(
        &mut self,
        number: u64,
        future: TheFuture,
        waker: Waker,
    ) -> Option<TheFuture> {
        if !self.open {
            return Some(future);
        }
        let task = Task {
            future: Some(future),
            woken: true,
            waker,
        };
        self.all.insert(number, task);
        self.queue.push_back(number);
        None
    }

    /// Wakes a task; returns whether that queued it.
    pub(super) fn wake(&mut self, number: u64) -> bool {
        let Some(task) = self.all.get_mut(&number).filter(|task| !task.woken) else {
            return false;
        };
        task.woken = true;
        let waits = task.future.is_some();
        if waits {
            self.queue.push_back(number);
        }
        waits
    }

    /// Takes out the future of the first task in the queue.
    pub(super) fn next(&mut self) -> Option<(u64, TheFuture, Waker)> {
        let number = self.queue.pop_front()?;
        let task = self.all.get_mut(&number)?;
        task.woken = false;
        Some((number, task.future.take()?, task.waker.clone()))
    }

    /// Takes a pending future back, and queues its task behind all others if it was woken meanwhile. If the
    /// pool is closed it returns the future, to be dropped outside the lock.
    pub(super) fn suspend(&mut self, number: u64, future: TheFuture) -> Option<TheFuture> {
        if !self.open {
            self.end(number);
            return Some(future);
        }
        let task = self.all.get_mut(&number).expect("it has not ended");
        task.future = Some(future);
        if task.woken {
            // No notification: the thread that calls this looks at the queue next.
            self.queue.push_back(number);
        }
        None
    }

    /// Forgets a task that has no future any more.
    pub(super) fn end(&mut self, number: u64) {
        self.all.remove(&number);
    }

    /// Ends everything; returns the tasks that are on no thread.
    pub(super) fn close(&mut self) -> Vec<Task> {
        self.open = false;
        self.queue.clear();
        let (waiting, running) = std::mem::take(&mut self.all)
            .into_iter()
            .partition(|(_, task)| task.future.is_some());
        self.all = running;
        waiting.into_values().collect()
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
