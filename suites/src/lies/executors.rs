//! Lies about executors: what becomes of tasks, of blocking work, and of panics.

use std::future::Future;
use std::mem::forget;
use std::num::NonZeroUsize;

use flowmeter_harness::executor::{Executors, Spawn};

use super::told;

/// An executor that does what `E` does, but for one lie.
pub(super) struct Lying<E> {
    /// Gone only while it is dropped.
    real: Option<E>,
}

/// Its spawner.
#[derive(Clone)]
pub(super) struct Spawner<S>(pub(super) S);

const HERE: &str = "an executor is there until it is dropped";

impl<E> Lying<E> {
    fn real(&self) -> &E {
        self.real.as_ref().expect(HERE)
    }
}

impl<E> Drop for Lying<E> {
    fn drop(&mut self) {
        let real = self.real.take();
        if told("an executor is not shut down") {
            forget(real);
        }
    }
}

/// What becomes of a task, unless it is to be spawned.
fn spawned<T>(task: T) -> Option<T> {
    if told("a task is dropped") {
        return None;
    }
    if told("a task is forgotten") {
        forget(task);
        return None;
    }
    Some(task)
}

/// What becomes of blocking work, unless it is to be done.
fn begun<W: FnOnce()>(work: W) -> Option<W> {
    if told("blocking work is dropped") {
        return None;
    }
    if told("blocking work is forgotten") {
        forget(work);
        return None;
    }
    if told("blocking work is done where it is asked for") {
        work();
        return None;
    }
    Some(work)
}

fn threads_instead_of(threads: NonZeroUsize) -> NonZeroUsize {
    if told("an executor has one thread") {
        return NonZeroUsize::MIN;
    }
    threads
}

impl<E: Executors> Executors for Lying<E> {
    type Spawner = Spawner<E::Spawner>;

    fn with_threads(threads: NonZeroUsize) -> Self {
        let real = Some(E::with_threads(threads_instead_of(threads)));
        Lying { real }
    }

    fn with_threads_beginning(
        threads: NonZeroUsize,
        begin: impl Fn() + Send + Sync + 'static,
    ) -> Option<Self> {
        let real = Some(E::with_threads_beginning(
            threads_instead_of(threads),
            begin,
        )?);
        Some(Lying { real })
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(task) = spawned(task) {
            self.real().spawn(task);
        }
    }

    fn spawner(&self) -> Self::Spawner {
        Spawner(self.real().spawner())
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        let Some(work) = begun(work) else { return };
        if told("blocking work is a task") {
            self.real().spawn(async move { work() });
        } else {
            self.real().spawn_blocking(work);
        }
    }

    fn panics(&self) -> u64 {
        let panics = self.real().panics();
        panics.wrapping_add(u64::from(told("one panic more is counted")))
    }
}

impl<S: Spawn> Spawn for Spawner<S> {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(task) = spawned(task) {
            self.0.spawn(task);
        }
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        let Some(work) = begun(work) else { return };
        if told("blocking work is a task") {
            self.0.spawn(async move { work() });
        } else {
            self.0.spawn_blocking(work);
        }
    }
}
