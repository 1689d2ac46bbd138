//! Counts polls of tasks under any executor: shows whether a task went on at once or was suspended and woken.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use flowmeter_harness::executor::Spawn;

/// Polls of all tasks of its spawners. A std atomic in every world, so that counting orders nothing between threads.
#[derive(Clone, Default)]
pub struct Polls(Arc<AtomicU32>);

impl Polls {
    /// The same spawner; the polls of its tasks are counted.
    pub fn of<'s, S: Spawn>(&self, spawner: &'s S) -> Counted<'s, S> {
        Counted {
            spawner,
            polls: self.clone(),
        }
    }

    /// The number of polls so far.
    pub fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// See [`Polls::of`].
pub struct Counted<'s, S> {
    spawner: &'s S,
    polls: Polls,
}

impl<S: Spawn> Spawn for Counted<'_, S> {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let polls = self.polls.clone();
        self.spawner.spawn(async move {
            let mut task = pin!(task);
            poll_fn(|context| {
                polls.0.fetch_add(1, Ordering::Relaxed);
                task.as_mut().poll(context)
            })
            .await;
        });
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.spawner.spawn_blocking(work);
    }
}
