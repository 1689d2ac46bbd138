//! Our pipelines, and what they have in common with those of published crates: how an item begins, how its
//! results are delivered, and how the output ends.

pub mod core_async;
pub mod unordered;

use std::future::{Future, poll_fn};
use std::task::Poll;

use flowmeter_harness::channel::{Async, Buffer, Channels, Message, PutError, TakeError};
use flowmeter_harness::executor::Spawn;
use flowmeter_harness::pipeline::{AtEnd, ResultPort};

use crate::sync::Arc;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use core_async::CoreAsync;
pub use unordered::Unordered;

/// core.async's `(chan 1)` for the results of an item.
pub(crate) const ONE: Buffer = Buffer::fixed(1);

/// A channel that a pipeline needs for itself.
fn open<C: Channels, T: Message>(buffer: Buffer) -> (C::Tx<T>, C::Rx<T>) {
    C::open(buffer).expect("the family has the buffers that the pipeline was made with")
}

/// Calls `af` in a task of its own, where a panic ends this item and no more (P4); answers where its results
/// arrive.
pub(crate) fn begin<C: Async, I: Message, O: Message, F>(
    spawner: &impl Spawn,
    results: Buffer,
    af: &Arc<impl Fn(I, ResultPort<C, O>) -> F + Send + Sync + 'static>,
    input: I,
) -> C::Rx<O>
where
    F: Future<Output = ()> + Send + 'static,
{
    let (tx, rx) = open::<C, O>(results);
    let port = ResultPort::new(tx);
    let af = Arc::clone(af);
    spawner.spawn(async move { af(input, port).await });
    rx
}

/// The next value; `None` once the channel is closed and empty. Where too many wait already it asks again,
/// after others have had a turn.
pub(crate) async fn next<C: Async, T: Message>(rx: &mut C::Rx<T>) -> Option<T> {
    loop {
        match C::take_async(rx).await {
            Ok(value) => return Some(value),
            Err(TakeError::Closed) => return None,
            Err(TakeError::TooManyWaiters) => give_way().await,
        }
    }
}

/// Puts, asking again as [`next`] does; `false` when the channel is closed.
pub(crate) async fn put<C: Async, T: Message>(tx: &mut C::Tx<T>, mut value: T) -> bool {
    loop {
        match C::put_async(tx, value).await {
            Ok(()) => return true,
            Err(PutError::Closed(_)) => return false,
            Err(PutError::TooManyWaiters(back)) => value = back,
        }
        give_way().await;
    }
}

/// Lets other tasks run.
async fn give_way() {
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

/// A producer of a pipeline's output. Dropping the last one ends the output and tells whoever waits for the
/// end; so does an executor that is dropped and drops its tasks.
pub(crate) struct Output<C: Async, O: Message> {
    to: C::Tx<O>,
    at_end: AtEnd,
    shared: Arc<Shared>,
    /// Closed at the end, and never put into.
    ended: C::Tx<()>,
}

/// What the producers of one output share.
struct Shared {
    producers: AtomicUsize,
    /// Whether somebody has seen that the output is closed (P3).
    unwanted: AtomicBool,
}

impl<C: Async, O: Message> Output<C, O> {
    /// The only producer of `to`, and a future that is ready when it is dropped.
    pub(crate) fn only(
        to: C::Tx<O>,
        at_end: AtEnd,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (ended, mut end) = open::<C, ()>(ONE);
        let shared = Arc::new(Shared {
            producers: AtomicUsize::new(1),
            unwanted: AtomicBool::new(false),
        });
        let output = Output {
            to,
            at_end,
            shared,
            ended,
        };
        (output, async move {
            next::<C, ()>(&mut end).await;
        })
    }

    /// A further producer.
    ///
    /// # Panics
    /// When the family has none.
    fn another(&self) -> Self {
        const MORE: &str = "the family has further producers";
        let to = C::another_tx(&self.to).expect(MORE);
        let ended = C::another_tx(&self.ended).expect(MORE);
        // Relaxed: this one is not dropped yet, so the count is not at its end.
        self.shared.producers.fetch_add(1, Ordering::Relaxed);
        Output {
            to,
            at_end: self.at_end,
            shared: Arc::clone(&self.shared),
            ended,
        }
    }

    /// What tells others whether the output is still wanted.
    pub(crate) fn demand(&self) -> Demand {
        Demand(Arc::clone(&self.shared))
    }

    /// Delivers everything that comes out of `results`. Where the output is closed the rest is taken all the
    /// same, so that the item ends and counts until then.
    pub(crate) async fn deliver(&mut self, results: &mut C::Rx<O>) {
        while let Some(result) = next::<C, O>(results).await {
            self.put(result).await;
        }
    }

    /// Delivers one result, unless the output is closed.
    pub(crate) async fn put(&mut self, result: O) {
        if !put::<C, O>(&mut self.to, result).await {
            // Relaxed: whoever takes one more item meanwhile was already about to.
            self.shared.unwanted.store(true, Ordering::Relaxed);
        }
    }
}

impl<C: Async, O: Message> Drop for Output<C, O> {
    fn drop(&mut self) {
        // What all others have delivered comes before the end.
        if self.shared.producers.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        if self.at_end == AtEnd::Close {
            C::close(&self.to);
        }
        C::close(&self.ended);
    }
}

/// Whether an output is still wanted.
pub(crate) struct Demand(Arc<Shared>);

impl Demand {
    /// The next item, unless the output is known to be closed: then nothing further is taken (P3).
    pub(crate) async fn next<C: Async, I: Message>(&self, from: &mut C::Rx<I>) -> Option<I> {
        if self.0.unwanted.load(Ordering::Relaxed) {
            return None;
        }
        next::<C, I>(from).await
    }
}
