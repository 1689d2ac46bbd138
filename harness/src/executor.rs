//! Executors: what runs go blocks.
//!
//! [`go`] (a task whose result arrives on a channel, G1) is written once over this trait and any
//! channel; an executor only has to run futures, and to offer a place for work that blocks.
//!
//! What runs go blocks that are written as explicit state machines (G3) is a design of its own, [`GoBlocks`], on whatever
//! executor.

mod bindings;
mod go_blocks;

use std::future::{Future, poll_fn};
use std::num::NonZeroUsize;
use std::task::Poll;

use crate::channel::{Async, Buffer, Channels, Message};
use crate::pipeline::ResultPort;

pub use bindings::Bindings;
pub use go_blocks::{Frame, GoBlocks, Port, Selected, Step};

/// Runs tasks, for one who does not own the executor: a task that spawns further ones, for instance.
pub trait Spawn {
    /// As [`Executors::spawn`]; once the executor is dropped, the task is dropped without having run.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static);

    /// As [`Executors::spawn_blocking`]; once the executor is dropped, the work is dropped without having run.
    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static);
}

/// Runs tasks on threads of its own. Dropping it lets running tasks come to their next wait, and drops those that
/// wait; lets blocking work that has begun come to its end, and drops what has not begun without running it; and
/// joins its threads. In one of its own tasks or pieces of work, where nobody may wait for that one, what it runs
/// on ends by itself.
pub trait Executors: Sized + Send + Sync + 'static {
    /// What spawns on this executor from elsewhere. It does not keep the executor alive.
    type Spawner: Spawn + Clone + Send + 'static;

    /// An executor with that many threads; one thread a task where the design has no pool.
    ///
    /// # Panics
    /// When the system cannot start one of them. Those of ours that have started are ended first.
    fn with_threads(threads: NonZeroUsize) -> Self;

    /// An executor with as many threads as the design has where nobody says how many; `None` where it leaves that to
    /// its user.
    fn with_default_threads() -> Option<Self> {
        None
    }

    /// [`Executors::with_threads`], each of whose threads calls `begin` before it runs anything: where it is to be
    /// pinned, for instance. `None` where the design has no place for that.
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
    /// When it needs a thread that the system cannot start. Ours have dropped the task by then.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static);

    /// A spawner of this executor. What panics in its tasks is counted in [`Executors::panics`] too.
    fn spawner(&self) -> Self::Spawner;

    /// Runs work that may hold up its thread, where it starves no task (G2).
    ///
    /// # Panics
    /// When it needs a thread that the system cannot start. Ours have dropped the work by then.
    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static);

    /// How many tasks and pieces of work ended in a panic.
    fn panics(&self) -> u64;
}

/// Runs a go block: answers a channel that yields its result once and is closed then (G1).
///
/// `None` is core.async's nil: the channel closes without a value. So it does when the block panics, which
/// the executor counts, and when the executor is dropped before the block has ended.
///
/// The result waits in a buffer for one value, as core.async's does, and the block does not wait for it to be
/// taken: the family has to keep what is buffered at a close
/// ([`Claim::KeepsBuffered`](crate::caps::Claim::KeepsBuffered)).
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

/// Runs a go block as [`go`] does, with the result put into `to`, whose channel has no other producer and room for it.
pub fn go_into<C: Async, T: Message>(
    spawner: &impl Spawn,
    to: C::Tx<T>,
    block: impl Future<Output = Option<T>> + Send + 'static,
) {
    let mut port = ResultPort::<C, T>::new(to);
    spawner.spawn(async move {
        if let Some(result) = block.await {
            // Refused when the taker has closed the channel: it does not want the result any more.
            let _ = port.put(result).await;
        }
    });
}

/// Lets other tasks of the executor run: wakes its own task, and is ready when that is polled again.
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
