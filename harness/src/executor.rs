//! Executors: what runs go blocks.
//!
//! [`go`] (a task with a channel for its result, G1) is written once, over this trait and any channel. An executor only
//! has to run futures and to offer a place for work that blocks.
//!
//! Go blocks written as explicit state machines (G3) are a design of their own, [`GoBlocks`], on any executor.

mod bindings;
mod go_blocks;

use std::future::{Future, poll_fn};
use std::num::NonZeroUsize;
use std::task::Poll;

use crate::channel::{Async, Buffer, Channels, Message};
use crate::pipeline::ResultPort;

pub use bindings::Bindings;
pub use go_blocks::{Frame, GoBlocks, Port, Selected, Step};

/// Runs tasks without owning the executor: a task that spawns further tasks uses it, for instance.
pub trait Spawn {
    /// As [`Executors::spawn`]; once the executor is dropped, the task is dropped without having run.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static);

    /// As [`Executors::spawn_blocking`]; once the executor is dropped, the work is dropped without having run.
    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static);
}

/// Runs tasks on threads of its own.
///
/// Dropping it lets running tasks reach their next wait, and drops waiting tasks. Blocking work that has begun runs to
/// its end; work that has not begun is dropped without running. Then the drop joins the executor's threads. A drop
/// inside one of its own tasks or pieces of work cannot wait for that one; its thread ends by itself.
pub trait Executors: Sized + Send + Sync + 'static {
    /// Spawns on this executor from elsewhere. It does not keep the executor alive.
    type Spawner: Spawn + Clone + Send + 'static;

    /// An executor with that many threads, or one thread per task where the design has no pool.
    ///
    /// # Panics
    /// When the system cannot start a thread. Our executors first end the threads that have started.
    fn with_threads(threads: NonZeroUsize) -> Self;

    /// An executor with the design's default number of threads; `None` where the design leaves the number to its user.
    fn with_default_threads() -> Option<Self> {
        None
    }

    /// [`Executors::with_threads`], where each thread calls `begin` before it runs anything, for instance to pin
    /// itself. `None` where the design has no such hook.
    fn with_threads_beginning(
        threads: NonZeroUsize,
        begin: impl Fn() + Send + Sync + 'static,
    ) -> Option<Self> {
        let _ = (threads, begin);
        None
    }

    /// Runs a task. A task that panics ends alone and is counted in [`Executors::panics`] (G1).
    ///
    /// # Panics
    /// When it needs a thread that the system cannot start. Our executors have dropped the task by then.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static);

    /// A spawner of this executor. Panics in its tasks are counted in [`Executors::panics`] too.
    fn spawner(&self) -> Self::Spawner;

    /// Runs work that may block its thread, apart from the tasks, so that it starves none (G2).
    ///
    /// # Panics
    /// When it needs a thread that the system cannot start. Our executors have dropped the work by then.
    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static);

    /// How many tasks and pieces of work ended in a panic.
    fn panics(&self) -> u64;
}

/// Runs a go block: returns a channel that yields its result once and is then closed (G1).
///
/// `None` is core.async's nil: the channel closes without a value. The same happens when the block panics, which the
/// executor counts, and when the executor is dropped before the block has ended.
///
/// The result waits in a buffer for one value, as in core.async, and the block does not wait until it is taken. The
/// family must therefore keep buffered values at a close ([`Claim::KeepsBuffered`](crate::caps::Claim::KeepsBuffered)).
///
/// # Panics
/// When the family has no fixed buffer.
pub fn go<C: Async, T: Message>(
    spawner: &impl Spawn,
    block: impl Future<Output = Option<T>> + Send + 'static,
) -> C::Rx<T> {
    let (tx, rx) = <C as Channels>::open(Buffer::fixed(1)).expect("the family has a fixed buffer");
    go_into::<C, T>(spawner, tx, block);
    rx
}

/// Runs a go block as [`go`] does and puts the result into `to`. Its channel has room, and no other producer.
pub fn go_into<C: Async, T: Message>(
    spawner: &impl Spawn,
    to: C::Tx<T>,
    block: impl Future<Output = Option<T>> + Send + 'static,
) {
    let mut port = ResultPort::<C, T>::new(to);
    spawner.spawn(async move {
        if let Some(result) = block.await {
            // Refused if the consumer has closed the channel: it no longer wants the result.
            let _ = port.put(result).await;
        }
    });
}

/// Yields to other tasks of the executor: wakes its own task, and is ready at the next poll.
pub async fn give_way() {
    let mut given = false;
    poll_fn(|context| {
        if std::mem::replace(&mut given, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
