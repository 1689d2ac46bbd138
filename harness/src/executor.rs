//! Executors: what runs go blocks.
//!
//! `go` itself (a task whose result arrives on a channel, G1) is written once over this trait and any
//! channel; an executor only has to run futures, and to offer a place for work that blocks.

use std::future::Future;
use std::num::NonZeroUsize;

/// Runs tasks on threads of its own. Dropping it lets running tasks come to their next wait, drops
/// those that wait, and joins its threads.
pub trait Executors: Sized + Send + Sync + 'static {
    /// An executor with that many threads; one thread a task where the design has no pool.
    fn with_threads(threads: NonZeroUsize) -> Self;

    /// Runs a task. A task that panics ends alone and is counted in [`Executors::panics`] (G1).
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static);

    /// Runs work that may hold up its thread, where it starves no task (G2).
    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static);

    /// How many tasks and pieces of work ended in a panic.
    fn panics(&self) -> u64;
}
