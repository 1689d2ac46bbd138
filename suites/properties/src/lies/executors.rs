//! Faults injected into executors: what happens to tasks, to blocking work, and to panics.

use std::future::Future;
use std::mem::forget;
use std::num::NonZeroUsize;

use flowmeter_harness::executor::Spawn;

use super::{bindings, channels, go_blocks, told};
use crate::design::executors::{
    Begins, Design, Executor, Executors, Runs, Runtime, Spawner, Task, What, Work,
};

/// The design with one fault.
pub(crate) fn lying(design: Design) -> Design {
    let what = match design.what {
        What::Executors(on) => What::Executors(Runtime {
            channels: channels::channels(on.channels),
            ..hosting(on)
        }),
        What::Bindings(real) => What::Bindings(bindings::lying(real)),
        What::GoBlocks(real) => What::GoBlocks(go_blocks::lying(real)),
    };
    Design { what, ..design }
}

/// The same channels, on executors with one fault.
pub(super) fn hosting(on: Runtime) -> Runtime {
    Runtime {
        executors: running(on.executors),
        ..on
    }
}

/// The executors with one fault.
pub(super) fn running(real: Executors) -> Executors {
    Executors(Box::leak(Box::new(Lying(real))))
}

/// Executors that behave like the real ones, except for one fault.
struct Lying(Executors);

/// One of them.
struct One {
    /// `None` only while it is dropped.
    real: Option<Executor>,
}

/// Its spawner.
#[derive(Clone)]
struct Spawns(Spawner);

const HERE: &str = "an executor is there until it is dropped";

impl Begins for Lying {
    fn with_threads(&self, threads: NonZeroUsize) -> Executor {
        let threads = if told("an executor has one thread") {
            NonZeroUsize::MIN
        } else {
            threads
        };
        let real = Some(self.0.with_threads(threads));
        Executor(Box::new(One { real }))
    }
}

impl One {
    fn real(&self) -> &Executor {
        self.real.as_ref().expect(HERE)
    }
}

impl Drop for One {
    fn drop(&mut self) {
        let real = self.real.take();
        if told("an executor is not shut down") {
            forget(real);
        }
    }
}

/// The task, or `None` where it is not to be spawned.
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

/// The work, or `None` where it is not to be done.
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

impl Runs for One {
    fn spawn(&self, task: Task) {
        if let Some(task) = spawned(task) {
            self.real().spawn(task);
        }
    }

    fn spawn_blocking(&self, work: Work) {
        let Some(work) = begun(work) else { return };
        if told("blocking work is a task") {
            self.real().spawn(async move { work() });
        } else {
            self.real().spawn_blocking(work);
        }
    }

    fn spawner(&self) -> Spawner {
        Spawner::of(Spawns(self.real().spawner()))
    }

    fn panics(&self) -> u64 {
        let panics = self.real().panics();
        panics.wrapping_add(u64::from(told("one panic more is counted")))
    }

    fn itself(&self) -> &dyn Runs {
        self.real().0.itself()
    }
}

impl Spawn for Spawns {
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
