//! An executor on the calling thread, with virtual time. When no task can run, time advances to the earliest deadline
//! of the sleepers. Tasks run in the order in which they were woken, so every run is the same.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::future::{Future, poll_fn};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use flowmeter_harness::executor::{Executors, Spawn};

type TheFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The tasks and their time.
#[derive(Default)]
pub struct Simulation {
    queue: Queue,
    clock: Clock,
}

/// Tasks that can run, in their order.
#[derive(Clone, Default)]
pub struct Queue(Arc<Mutex<VecDeque<Arc<Task>>>>);

/// A task, queued when it is woken.
struct Task {
    /// `None` once it has ended.
    future: Mutex<Option<TheFuture>>,
    queue: Queue,
}

/// Virtual time, in nanoseconds.
#[derive(Clone, Default)]
pub struct Clock(Arc<Mutex<Time>>);

#[derive(Default)]
struct Time {
    now: u64,
    asked: u64,
    /// The moments and the numbers of their sleepers, first come, first woken.
    moments: BinaryHeap<Reverse<(u64, u64)>>,
    sleepers: BTreeMap<u64, Waker>,
}

impl Time {
    /// The moment so much later, and a number for its sleeper.
    fn ask(&mut self, nanos: u64) -> (u64, u64) {
        let asked = (self.now + nanos, self.asked);
        self.asked += 1;
        self.moments.push(Reverse(asked));
        asked
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Simulation {
    pub fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Runs until no task can run and none sleeps; returns the time.
    pub fn run(&self) -> u64 {
        loop {
            while let Some(task) = self.queue.next() {
                task.run();
            }
            if !self.clock.pass() {
                return lock(&self.clock.0).now;
            }
        }
    }
}

impl Queue {
    fn next(&self) -> Option<Arc<Task>> {
        lock(&self.0).pop_front()
    }
}

impl Task {
    fn run(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        let mut future = lock(&self.future);
        let polled = (future.as_mut()).map(|it| it.as_mut().poll(&mut Context::from_waker(&waker)));
        if polled.is_some_and(|polled| polled.is_ready()) {
            *future = None;
        }
    }
}

/// A task that is woken twice is polled twice, which is harmless.
impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let queue = self.queue.clone();
        lock(&queue.0).push_back(self);
    }
}

impl Clock {
    /// Ready so much later than its first poll. A further poll waits as before, since a loop that works on one item
    /// after the other is also woken for other reasons.
    pub fn sleep(&self, nanos: u64) -> impl Future<Output = ()> + Send + use<> {
        let (clock, mut asked) = (self.clone(), None);
        poll_fn(move |context| {
            let mut time = lock(&clock.0);
            let (ends, number) = *asked.get_or_insert_with(|| time.ask(nanos));
            if ends <= time.now {
                return Poll::Ready(());
            }
            time.sleepers.insert(number, context.waker().clone());
            Poll::Pending
        })
    }

    /// Advances to the next moment; `false` when there is none.
    fn pass(&self) -> bool {
        let mut time = lock(&self.0);
        let Some(Reverse((moment, number))) = time.moments.pop() else {
            return false;
        };
        time.now = moment;
        let sleeper = time.sleepers.remove(&number);
        drop(time);
        if let Some(sleeper) = sleeper {
            sleeper.wake();
        }
        true
    }
}

impl Spawn for Queue {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task = Task {
            future: Mutex::new(Some(Box::pin(task))),
            queue: self.clone(),
        };
        lock(&self.0).push_back(Arc::new(task));
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.spawn(async { work() });
    }
}

impl Executors for Simulation {
    type Spawner = Queue;

    fn with_threads(_threads: NonZeroUsize) -> Self {
        Simulation::default()
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.queue.spawn(task);
    }

    fn spawner(&self) -> Queue {
        self.queue.clone()
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.queue.spawn_blocking(work);
    }

    /// None: a panic of a task fails the test.
    fn panics(&self) -> u64 {
        0
    }
}
