//! Designs of executors, and of what belongs to them: bindings, and go blocks as state machines.

mod bindings;
mod collected;
mod go_blocks;

use std::any::Any;
use std::future::Future;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::pin::Pin;

use flowmeter_harness::channel::Buffer;
use flowmeter_harness::executor::{self, Executors as Family, Spawn};

use super::channels::{Channels, Erased, Rx, Tx};

pub(crate) use bindings::{Binding, Bindings, Binds, Held};
pub(crate) use collected::{Collected, Design, What};
pub(crate) use go_blocks::{Block, Frame, GoBlocks, Lent, Next, Running, State, Then};

/// A task of an executor.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
/// Work that may block its thread.
pub(crate) type Work = Box<dyn FnOnce() + Send>;

/// Executors, and the channels on which their tasks wait.
#[derive(Clone, Copy)]
pub(crate) struct Runtime {
    /// The executors.
    pub(crate) executors: Executors,
    /// The channels.
    pub(crate) channels: Channels,
}

impl Runtime {
    /// A new channel with room for that many values.
    pub(crate) fn open<T: Send + 'static>(self, room: usize) -> (Tx<T>, Rx<T>) {
        let opened = self.channels.open(Buffer::fixed(room));
        opened.expect("a family with futures has a buffer")
    }

    /// Runs a go block, as [`executor::go`] does.
    pub(crate) fn go<T: Send + 'static>(
        self,
        spawner: &impl Spawn,
        block: impl Future<Output = Option<T>> + Send + 'static,
    ) -> Rx<T> {
        let (tx, rx) = self.open(1);
        executor::go_into::<Erased, T>(spawner, tx, block);
        rx
    }
}

/// A design of executors.
#[derive(Clone, Copy)]
pub(crate) struct Executors(pub(crate) &'static dyn Begins);

/// Starts executors.
pub(crate) trait Begins: Sync {
    fn with_threads(&self, threads: NonZeroUsize) -> Executor;
}

struct Of<E>(PhantomData<fn(E)>);

impl<E: Family> Begins for Of<E> {
    fn with_threads(&self, threads: NonZeroUsize) -> Executor {
        Executor(Box::new(E::with_threads(threads)))
    }
}

impl Executors {
    /// The design of that family.
    pub(crate) const fn of<E: Family>() -> Executors {
        Executors(&Of::<E>(PhantomData))
    }

    /// An executor with that many threads.
    pub(crate) fn with_threads(self, threads: NonZeroUsize) -> Executor {
        self.0.with_threads(threads)
    }
}

/// An executor. Dropping it drops what it runs.
pub(crate) struct Executor(pub(crate) Box<dyn Runs>);

/// Runs tasks.
pub(crate) trait Runs: Any + Send + Sync {
    fn spawn(&self, task: Task);
    fn spawn_blocking(&self, work: Work);
    fn spawner(&self) -> Spawner;
    fn panics(&self) -> u64;
    /// The real executor.
    fn itself(&self) -> &dyn Runs;
}

impl<E: Family> Runs for E {
    fn spawn(&self, task: Task) {
        Family::spawn(self, task);
    }
    fn spawn_blocking(&self, work: Work) {
        Family::spawn_blocking(self, work);
    }
    fn spawner(&self) -> Spawner {
        Spawner::of(Family::spawner(self))
    }
    fn panics(&self) -> u64 {
        Family::panics(self)
    }
    fn itself(&self) -> &dyn Runs {
        self
    }
}

impl Executor {
    /// Runs a task.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(Box::pin(task));
    }

    /// Runs work that may block its thread.
    pub(crate) fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.0.spawn_blocking(Box::new(work));
    }

    /// A spawner for it.
    pub(crate) fn spawner(&self) -> Spawner {
        self.0.spawner()
    }

    /// How many tasks and pieces of work ended in a panic.
    pub(crate) fn panics(&self) -> u64 {
        self.0.panics()
    }

    /// The executor of that family.
    ///
    /// # Panics
    /// When it belongs to another family.
    pub(in crate::design) fn family<E: Family>(&self) -> &E {
        let own: &dyn Any = self.0.itself();
        own.downcast_ref()
            .expect("an executor is used with the design that made it")
    }
}

/// A spawner of an executor, of any type.
pub(crate) struct Spawner(Box<dyn SpawnsAgain>);

/// A borrowed spawner, of any type.
#[derive(Clone, Copy)]
pub(crate) struct Spawning<'s>(&'s dyn Spawns);

trait Spawns {
    fn spawn(&self, task: Task);
    fn spawn_blocking(&self, work: Work);
}

impl<S: Spawn> Spawns for S {
    fn spawn(&self, task: Task) {
        Spawn::spawn(self, task);
    }
    fn spawn_blocking(&self, work: Work) {
        Spawn::spawn_blocking(self, work);
    }
}

trait SpawnsAgain: Spawns + Send {
    fn another(&self) -> Spawner;
}

impl<S: Spawn + Clone + Send + 'static> SpawnsAgain for S {
    fn another(&self) -> Spawner {
        Spawner::of(self.clone())
    }
}

impl Spawner {
    /// That spawner.
    pub(crate) fn of(spawner: impl Spawn + Clone + Send + 'static) -> Spawner {
        Spawner(Box::new(spawner))
    }
}

impl Clone for Spawner {
    fn clone(&self) -> Self {
        self.0.another()
    }
}

impl Spawn for Spawner {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(Box::pin(task));
    }
    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.0.spawn_blocking(Box::new(work));
    }
}

impl<'s> Spawning<'s> {
    /// That spawner.
    pub(crate) fn of(spawner: &'s impl Spawn) -> Self {
        Spawning(spawner)
    }
}

impl Spawn for Spawning<'_> {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(Box::pin(task));
    }
    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.0.spawn_blocking(Box::new(work));
    }
}
