//! `thread_per_task`: a thread for each task, which waits as long as the task does (G4).
//!
//! This offers what a virtual thread offers on the JVM: a task that waits delays no other. Here each task has a thread
//! of the system with a stack of its own. Thousands are fine, millions are not expected. Spawning a task costs as much
//! as starting a thread, unless a thread is free.
//!
//! Invariant, once the executor is closed: only polls that had begun continue, and each task is dropped by its own
//! thread.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;
#[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
use std::sync::Arc as WakerArc;
use std::task::{Context, Wake, Waker};

use flowmeter_harness::executor::{Executors, Spawn};

use super::blocking::BlockingThreads;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Condvar, Mutex, Track, contain, order_key};

/// As many threads as there are tasks and pieces of blocking work at once.
pub struct ThreadPerTask {
    spawner: TaskSpawner,
}

/// Spawns on a [`ThreadPerTask`] from anywhere, until that is dropped.
#[derive(Clone)]
pub struct TaskSpawner(Arc<Shared>);

/// The state that the executor, its threads and its spawners share.
struct Shared {
    /// The seats of all tasks that may be waiting, by number; `None` once the executor is closed.
    seats: Mutex<Option<BTreeMap<u64, Arc<Seat>>>>,
    threads: BlockingThreads,
    panics: AtomicU64,
}

/// Where the thread of a task waits.
struct Seat {
    state: Mutex<State>,
    changed: Condvar,
}

/// The entry of a task in `seats`. It ends with the work of the task, even if no thread has begun that.
struct Entry {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(seats) = &mut *self.shared.seats.lock() {
            seats.remove(&self.number);
        }
    }
}

enum State {
    /// The task has not been woken since its last poll began.
    Idle,
    Woken,
    /// The executor is closed.
    Closed,
}

type TheFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Executors for ThreadPerTask {
    type Spawner = TaskSpawner;

    /// A thread for each task, whatever number is asked for.
    fn with_threads(_threads: NonZeroUsize) -> Self {
        ThreadPerTask {
            spawner: TaskSpawner(Arc::new(Shared {
                seats: Mutex::new(Some(BTreeMap::new())),
                threads: BlockingThreads::new(),
                panics: AtomicU64::new(0),
            })),
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawner.spawn(task);
    }

    fn spawner(&self) -> TaskSpawner {
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

impl Spawn for TaskSpawner {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let number = order_key();
        let seat = Arc::new(Seat::new());
        let is_open = match &mut *self.0.seats.lock() {
            Some(seats) => seats.insert(number, Arc::clone(&seat)).is_none(),
            None => false,
        };
        if !is_open {
            return;
        }
        let task: TheFuture = Box::pin(task);
        let shared = Arc::clone(&self.0);
        let entry = Entry { shared, number };
        let refused = self.0.threads.run(Box::new(move || {
            entry.shared.contain(|| Seat::run(&seat, task));
        }));
        drop(refused);
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        let shared = Arc::clone(&self.0);
        let refused = self.0.threads.run(Box::new(move || {
            shared.contain(work);
        }));
        drop(refused);
    }
}

impl Drop for ThreadPerTask {
    fn drop(&mut self) {
        let shared = &self.spawner.0;
        let seats = shared.seats.lock().take();
        for seat in seats.into_iter().flat_map(BTreeMap::into_values) {
            seat.call(State::Closed);
        }
        for work in shared.threads.close() {
            shared.contain(|| drop(work));
        }
        shared.threads.join();
    }
}

impl Shared {
    /// Runs what may panic; a panic is counted and does not propagate.
    fn contain(&self, work: impl FnOnce()) {
        if contain(work).is_none() {
            // Relaxed: as in `panics`.
            self.panics.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Seat {
    fn new() -> Self {
        Seat {
            state: Mutex::new(State::Idle),
            changed: Condvar::new(),
        }
    }

    /// Polls a task to its end, or to its next wait once the executor is closed; then the task is dropped.
    fn run(seat: &Arc<Self>, mut task: TheFuture) {
        let waker = waker(Arc::clone(seat));
        let mut context = Context::from_waker(&waker);
        if seat.is_closed() {
            return;
        }
        while task.as_mut().poll(&mut context).is_pending() && seat.wait() {}
    }

    /// Whether the executor was closed before a thread was free for the task.
    fn is_closed(&self) -> bool {
        matches!(*self.state.lock(), State::Closed)
    }

    /// Waits to be woken; `false` once the executor is closed.
    fn wait(&self) -> bool {
        let mut state = self.state.lock();
        loop {
            match *state {
                State::Idle => state = self.changed.wait(state),
                State::Woken => {
                    *state = State::Idle;
                    return true;
                }
                State::Closed => return false,
            }
        }
    }

    fn call(&self, call: State) {
        let mut state = self.state.lock();
        if !matches!(*state, State::Closed) {
            *state = call;
        }
        drop(state);
        self.changed.notify_one();
    }
}

/// Wakes the thread of a task.
struct SeatWaker {
    seat: Arc<Seat>,
    /// Loom and shuttle report it if it leaks.
    _alive: Track<()>,
}

// The checkers need not see the count of std's Arc: all that is reached through it has a lock of its own.
#[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
impl Wake for SeatWaker {
    fn wake(self: WakerArc<Self>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &WakerArc<Self>) {
        self.seat.call(State::Woken);
    }
}

/// The waker of the task in that seat.
#[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
fn waker(seat: Arc<Seat>) -> Waker {
    Waker::from(WakerArc::new(SeatWaker {
        seat,
        _alive: Track::new(()),
    }))
}

impl fmt::Debug for ThreadPerTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ThreadPerTask")
    }
}

impl fmt::Debug for TaskSpawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskSpawner")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own_thread::shortage;

    #[test]
    fn a_task_whose_thread_cannot_start_leaves_no_seat() {
        let executor = ThreadPerTask::with_threads(NonZeroUsize::MIN);
        let (spawned, _) = shortage::after(0, || executor.spawn(async {}));
        assert!(spawned.is_none(), "it needs a thread");
        let seats = executor.spawner.0.seats.lock();
        assert_eq!(seats.as_ref().map(BTreeMap::len), Some(0));
    }

    /// A thread may become free for a task only after the end.
    #[test]
    fn a_task_whose_thread_comes_after_the_end_is_dropped_and_not_polled() {
        let held = Arc::new(());
        let task = Arc::clone(&held);
        let seat = Arc::new(Seat::new());
        seat.call(State::Closed);
        Seat::run(
            &seat,
            Box::pin(async move {
                unreachable!("{} polls", Arc::strong_count(&task));
            }),
        );
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
