//! The tasks of a pool, as its lock guards them.
//!
//! Invariant, whenever the lock is free: a task's number is in the queue exactly when its future is here and
//! it was woken since its last poll began. Numbers are never used again, so a waker that outlives its task
//! wakes nobody.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
#[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
use std::sync::Arc as WakerArc;
use std::task::{Wake, Waker};

use crate::sync::{Arc, Track};

use super::Shared;

/// What a task runs.
pub(super) type TheFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One task.
pub(super) struct Task {
    /// Not here while a thread polls it.
    future: Option<TheFuture>,
    /// Whether it was woken since its last poll began.
    woken: bool,
    waker: Waker,
}

/// All that have not ended, and whose turn is next.
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

    /// Queues a new task; it comes back when the pool is closed.
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

    /// Whether the wake queued the task.
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

    /// Hands out whose turn it is.
    pub(super) fn next(&mut self) -> Option<(u64, TheFuture, Waker)> {
        let number = self.queue.pop_front()?;
        let task = self.all.get_mut(&number)?;
        task.woken = false;
        Some((number, task.future.take()?, task.waker.clone()))
    }

    /// Takes a pending future back; behind all others when it was woken meanwhile. It is answered, for
    /// dropping outside the lock, when the pool has closed.
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

    /// Forgets a task whose future is gone.
    pub(super) fn end(&mut self, number: u64) {
        self.all.remove(&number);
    }

    /// Ends everything; answers the tasks that are on no thread.
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
    /// Found under loom and shuttle when it is forgotten.
    _alive: Track<()>,
}

// The checkers need not see the count of std's Arc: nothing is reached through it but what has a lock of
// its own.
#[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
impl Wake for PoolWaker {
    fn wake(self: WakerArc<Self>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &WakerArc<Self>) {
        self.shared.wake(self.number);
    }
}

/// What wakes that task.
#[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
pub(super) fn waker(shared: Arc<Shared>, number: u64) -> Waker {
    Waker::from(WakerArc::new(PoolWaker {
        shared,
        number,
        _alive: Track::new(()),
    }))
}
