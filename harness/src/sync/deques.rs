//! Work-stealing queues of the std world: crossbeam's deques, first in, first out.

use ::std::fmt;
use ::std::iter::repeat_with;

use crossbeam_deque as bare;
use crossbeam_deque::Steal;

/// A queue that one thread puts into and takes from, and other threads steal from.
pub struct Worker<T>(bare::Worker<T>);

/// Steals from a [`Worker`].
pub struct Stealer<T>(bare::Stealer<T>);

/// A queue that any thread puts into.
pub struct Injector<T>(bare::Injector<T>);

impl<T> Worker<T> {
    /// An empty queue.
    #[inline]
    #[track_caller]
    pub fn new() -> Self {
        Worker(bare::Worker::new_fifo())
    }

    /// A handle that steals from it.
    #[inline]
    #[track_caller]
    pub fn stealer(&self) -> Stealer<T> {
        Stealer(self.0.stealer())
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
        self.0.pop()
    }
}

impl<T> Stealer<T> {
    /// Takes the first value, and moves some of those behind it into `thief`; `None` if the queue is empty.
    #[inline]
    #[track_caller]
    pub fn steal_into(&self, thief: &Worker<T>) -> Option<T> {
        stolen(|| self.0.steal_batch_and_pop(&thief.0))
    }

    /// Whether nothing can be stolen.
    #[inline]
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Injector<T> {
    /// An empty queue.
    #[inline]
    #[track_caller]
    pub fn new() -> Self {
        Injector(bare::Injector::new())
    }

    /// Appends `value`.
    #[inline]
    #[track_caller]
    pub fn push(&self, value: T) {
        self.0.push(value);
    }

    /// As [`Stealer::steal_into`].
    #[inline]
    #[track_caller]
    pub fn steal_into(&self, thief: &Worker<T>) -> Option<T> {
        stolen(|| self.0.steal_batch_and_pop(&thief.0))
    }

    /// Whether nothing can be stolen.
    #[inline]
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Retries until the attempt did not collide with another thread.
#[inline]
fn stolen<T>(steal: impl FnMut() -> Steal<T>) -> Option<T> {
    let mut answers = repeat_with(steal);
    answers.find(|answer| !answer.is_retry())?.success()
}

impl<T> Default for Worker<T> {
    fn default() -> Self {
        Worker::new()
    }
}

impl<T> Default for Injector<T> {
    fn default() -> Self {
        Injector::new()
    }
}

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Worker")
    }
}

impl<T> fmt::Debug for Stealer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stealer")
    }
}

impl<T> fmt::Debug for Injector<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Injector")
    }
}
