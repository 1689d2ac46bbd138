//! Work-stealing queues of the explored worlds, each behind a lock. The atomics inside published queues are not under
//! test here, and would be invisible to the checkers.

use ::std::collections::VecDeque;
use ::std::fmt;
use ::std::sync::Arc;

use super::Engine;
use super::lock::Mutex;

/// A queue that one thread puts into and takes from, and other threads steal from.
pub struct Worker<E: Engine, T>(Arc<Injector<E, T>>);

/// Steals from a [`Worker`].
pub struct Stealer<E: Engine, T>(Arc<Injector<E, T>>);

/// A queue that any thread puts into.
pub struct Injector<E: Engine, T>(Mutex<E, VecDeque<T>>);

impl<E: Engine, T> Worker<E, T> {
    /// An empty queue.
    #[inline]
    #[track_caller]
    pub fn new() -> Self {
        Worker(Arc::new(Injector::new()))
    }

    /// A handle that steals from it.
    #[inline]
    #[track_caller]
    pub fn stealer(&self) -> Stealer<E, T> {
        Stealer(Arc::clone(&self.0))
    }

    /// Appends `value`.
    #[inline]
    #[track_caller]
    pub fn push(&self, value: T) {
        self.0.push(value);
    }

    /// Takes the first value.
    #[inline]
    #[track_caller]
    pub fn pop(&self) -> Option<T> {
        self.0.0.lock().pop_front()
    }
}

impl<E: Engine, T> Stealer<E, T> {
    /// Takes the first value, and moves some of those behind it into `thief`; `None` if the queue is empty.
    #[inline]
    #[track_caller]
    pub fn steal_into(&self, thief: &Worker<E, T>) -> Option<T> {
        self.0.steal_into(thief)
    }

    /// Whether nothing can be stolen.
    #[inline]
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<E: Engine, T> Injector<E, T> {
    /// An empty queue.
    #[inline]
    #[track_caller]
    pub fn new() -> Self {
        Injector(Mutex::new(VecDeque::new()))
    }

    /// Appends `value`.
    #[inline]
    #[track_caller]
    pub fn push(&self, value: T) {
        self.0.lock().push_back(value);
    }

    /// As [`Stealer::steal_into`]: moves half of the values.
    #[inline]
    #[track_caller]
    pub fn steal_into(&self, thief: &Worker<E, T>) -> Option<T> {
        let mut queue = self.0.lock();
        let first = queue.pop_front()?;
        let further = queue.len() / 2;
        let further: VecDeque<T> = queue.drain(..further).collect();
        drop(queue);
        if !further.is_empty() {
            thief.0.0.lock().extend(further);
        }
        Some(first)
    }

    /// Whether nothing can be stolen.
    #[inline]
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

impl<E: Engine, T> Default for Worker<E, T> {
    fn default() -> Self {
        Worker::new()
    }
}

impl<E: Engine, T> Default for Injector<E, T> {
    fn default() -> Self {
        Injector::new()
    }
}

impl<E: Engine, T> fmt::Debug for Worker<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Worker")
    }
}

impl<E: Engine, T> fmt::Debug for Stealer<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stealer")
    }
}

impl<E: Engine, T> fmt::Debug for Injector<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Injector")
    }
}
