//! The tasks of a pool, guarded by its lock.
//!
//! Invariant, whenever the lock is free: a task's number is in the queue exactly when its future is here and
//! it was woken since its last poll began. Numbers are never reused, so a waker that outlives its task has
//! no effect.
//!
//! Invariant of the calls: while tasks are queued and a thread waits that was not called, another is called and does
//! not run yet. So at most one notification is on its way. The thread that it wakes calls the next one, if tasks remain.
//! Only where the one queued task is left to the thread that woke it, and another watches, none is called (`watch.rs`).

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
#[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
use std::sync::Arc as WakerArc;
use std::task::{Wake, Waker};

use flowmeter_harness::sync::Deadline;

use crate::sync::{Arc, Track};

use super::super::slots::Slots;
use super::Shared;
use super::watch::Watch;

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
    /// Those of the pool.
    threads: usize,
    /// Threads that wait and were not called yet, the one that watches among them.
    idle: usize,
    /// Calls that no waiting thread has heard yet.
    calls: usize,
    /// Turns that have begun.
    turns: u64,
    watch: Watch,
}

impl Tasks {
    pub(super) fn new(threads: usize) -> Self {
        Tasks {
            open: true,
            threads,
            all: Slots::new(),
            queue: VecDeque::new(),
            idle: 0,
            calls: 0,
            turns: 0,
            watch: Watch::new(),
        }
    }

    /// A thread is about to wait. When it looks at the queue: never, unless it is the one that watches.
    pub(super) fn rest(&mut self) -> Deadline {
        self.idle += 1;
        if self.idle == self.threads {
            // There is no task to watch, and the first that comes calls a thread.
            return Deadline::NEVER;
        }
        self.watch.begin()
    }

    /// Whether a thread that waited goes on: it was called, or the pool has closed. `look` is when it would have
    /// looked.
    pub(super) fn goes_on(&mut self, look: Deadline) -> bool {
        match self.calls.checked_sub(1) {
            Some(calls) => self.calls = calls,
            None if self.open => return false,
            None => self.idle -= 1,
        }
        if look != Deadline::NEVER {
            self.watch.end();
        }
        true
    }

    /// How many turns have begun, if tasks are queued.
    pub(super) fn turns_if_queued(&self) -> Option<u64> {
        (!self.queue.is_empty()).then_some(self.turns)
    }

    /// Whether tasks are queued, and no turn has begun after those `turns`. Then the thread that watches goes on.
    pub(super) fn are_held_up(&mut self, turns: u64) -> bool {
        let are_held_up = self.turns_if_queued() == Some(turns);
        if are_held_up {
            self.idle -= 1;
            self.watch.pause();
        }
        are_held_up
    }

    /// No task is held up. When the thread that watches looks next.
    pub(super) fn next_look(&mut self) -> Deadline {
        self.watch.next_look()
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

    /// Wakes a task; returns whether to notify a thread. `by_own_thread`: of the pool.
    pub(super) fn wake(&mut self, number: u64, by_own_thread: bool) -> bool {
        let Some(task) = self.all.get_mut(number).filter(|task| !task.woken) else {
            return false;
        };
        task.woken = true;
        if task.future.is_none() {
            return false;
        }
        self.queue.push_back(number);
        let may_stay = by_own_thread && self.queue.len() == 1;
        let is_left = may_stay && self.watch.asks_to_leave();
        !is_left && self.call()
    }

    /// Takes out the first task in the queue.
    pub(super) fn next(&mut self) -> Option<Turn> {
        let number = self.queue.pop_front()?;
        let task = self.all.get_mut(number)?;
        task.woken = false;
        self.turns += 1;
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
