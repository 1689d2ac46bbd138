//! tokio's multi-thread runtime as an executor. It drives the async rows.
//!
//! Dropping a runtime does what [`Executors`] asks (`tokio::runtime::Runtime`, "Shutdown"). Tasks run to their next
//! wait and are dropped there. Blocking work that has begun runs to its end, and the threads are joined. On
//! one of these threads it waits for none, and the threads end by themselves.

use ::std::num::NonZeroUsize;
use ::tokio::runtime::{Builder, Handle};
use flowmeter_harness::executor::{Executors, Spawn};

use super::panic_watch::Panics;
use super::tokio_runtime::OwnRuntime;

/// tokio's multi-thread runtime with its timer, without its IO driver.
#[derive(Debug)]
pub struct Tokio {
    _runtime: OwnRuntime,
    spawner: TokioSpawner,
}

/// Spawns on a [`Tokio`] from anywhere: the runtime's handle and the count of panics.
#[derive(Clone, Debug)]
pub struct TokioSpawner {
    handle: Handle,
    panics: Panics,
}

impl Tokio {
    fn over(runtime: OwnRuntime) -> Tokio {
        Tokio {
            spawner: TokioSpawner {
                handle: runtime.handle().clone(),
                panics: Panics::default(),
            },
            _runtime: runtime,
        }
    }
}

impl Spawn for TokioSpawner {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let watch = self.panics.watch();
        self.handle.spawn(async move {
            let _watch = watch;
            task.await;
        });
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        let watch = self.panics.watch();
        self.handle.spawn_blocking(move || {
            let _watch = watch;
            work();
        });
    }
}

impl Executors for Tokio {
    type Spawner = TokioSpawner;

    /// # Panics
    /// When the system refuses threads.
    fn with_threads(threads: NonZeroUsize) -> Self {
        let mut builder = Builder::new_multi_thread();
        Tokio::over(OwnRuntime::built(builder.worker_threads(threads.get())))
    }

    fn with_threads_beginning(
        threads: NonZeroUsize,
        begin: impl Fn() + Send + Sync + 'static,
    ) -> Option<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(threads.get());
        Some(Tokio::over(OwnRuntime::beginning(&mut builder, begin)))
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawner.spawn(task);
    }

    fn spawner(&self) -> TokioSpawner {
        self.spawner.clone()
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.spawner.spawn_blocking(work);
    }

    fn panics(&self) -> u64 {
        self.spawner.panics.count()
    }
}
