//! An executor on the thread that asks it, whose time passes when no task can go on: to the moment of the first of those
//! who sleep. Tasks take turns in the order in which they were woken, so a run is the same each time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::future::{Future, poll_fn};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use flowmeter_harness::executor::{Executors, Spawn};

type TheFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Tasks, and their time.
#[derive(Default)]
pub struct Simulation {
    queue: Queue,
    clock: Clock,
}

/// Tasks that can go on, in the order of their turns.
#[derive(Clone, Default)]
pub struct Queue(Arc<Mutex<VecDeque<Arc<Task>>>>);

/// A task, queued when it is woken.
struct Task {
    /// Nothing once it has ended.
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
    /// Moments, and who asked for each, first come, first woken.
    moments: BinaryHeap<Reverse<(u64, u64)>>,
    sleepers: BTreeMap<u64, Waker>,
}

impl Time {
    /// The moment so much later, and a number for whoever waits for it.
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

    /// Runs until nobody can go on and nobody sleeps; answers what time it is.
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

/// Woken twice it is polled twice, which harms nobody.
impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let queue = self.queue.clone();
        lock(&queue.0).push_back(self);
    }
}

impl Clock {
    /// Ready so much later than when it is first polled. Polled again it waits as before: a loop that works on one item after
    /// the other is woken for more than one of them.
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

    /// Goes on to the next moment; `false` when there is none.
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

    /// None: a panic of a task is the test's.
    fn panics(&self) -> u64 {
        0
    }
}
