//! Our pipelines, and what they have in common with those of published crates: how an item begins, how its
//! results are delivered, and how the output ends.

pub mod core_async;
pub mod finishes;
mod turns;
pub mod unordered;
pub mod windowed;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Poll, Waker};

use flowmeter_harness::channel::{Async, Buffer, Channels, Message, PutError, TakeError};
use flowmeter_harness::executor::Spawn;
use flowmeter_harness::pipeline::{AtEnd, ResultPort};

use crate::sync::{Arc, Mutex};

pub use core_async::{CoreAsync, Swapped};
pub use finishes::Finishes;
pub use unordered::Unordered;
pub use windowed::Windowed;

/// core.async's `(chan 1)` for the results of an item.
pub(crate) const ONE: Buffer = Buffer::fixed(1);

/// A channel that a pipeline needs for itself.
pub(crate) fn open<C: Channels, T: Message>(buffer: Buffer) -> (C::Tx<T>, C::Rx<T>) {
    C::open(buffer).expect("the family has the buffers that the pipeline was made with")
}

/// Calls `af` in a task of its own, where a panic ends this item and no more (P4); answers where its results
/// arrive. It holds `permit` until it has ended.
fn begin<C: Async, I: Message, O: Message, P, F>(
    spawner: &impl Spawn,
    results: Buffer,
    af: &Arc<impl Fn(I, ResultPort<C, O, P>) -> F + Send + Sync + 'static>,
    input: I,
    permit: P,
) -> C::Rx<O>
where
    P: Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (tx, rx) = open::<C, O>(results);
    let port = ResultPort::holding(tx, permit);
    let af = Arc::clone(af);
    spawner.spawn(async move { af(input, port).await });
    rx
}

/// A pipeline waits with one put and one take for each of its channels.
const TOO_MANY: &str = "others leave room for a pipeline to wait at its ports";

/// The next value; `None` once the channel is closed and empty.
///
/// # Panics
/// Where too many others wait already.
pub(crate) async fn next<C: Async, T: Message>(rx: &mut C::Rx<T>) -> Option<T> {
    match C::take_async(rx).await {
        Ok(value) => Some(value),
        Err(TakeError::Closed) => None,
        Err(TakeError::TooManyWaiters) => panic!("{TOO_MANY}"),
    }
}

/// Puts; `false` when the channel is closed.
///
/// # Panics
/// As [`next`].
pub(crate) async fn put<C: Async, T: Message>(tx: &mut C::Tx<T>, value: T) -> bool {
    match C::put_async(tx, value).await {
        Ok(()) => true,
        Err(PutError::Closed(_)) => false,
        Err(PutError::TooManyWaiters(_)) => panic!("{TOO_MANY}"),
    }
}

/// The producer of a pipeline's output. Dropping it ends the output and tells whoever waits for the end; so does
/// an executor that is dropped and drops its tasks.
pub(crate) struct Output<C: Async, O: Message> {
    to: C::Tx<O>,
    at_end: AtEnd,
    demand: Demand,
    /// Closed at the end, and never put into.
    ended: C::Tx<()>,
}

impl<C: Async, O: Message> Output<C, O> {
    /// The only producer of `to`, and a future that is ready when it is dropped.
    pub(crate) fn only(
        to: C::Tx<O>,
        at_end: AtEnd,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (ended, mut end) = open::<C, ()>(ONE);
        let output = Output {
            to,
            at_end,
            demand: Demand(Arc::new(Mutex::new(Wanted::default()))),
            ended,
        };
        (output, async move {
            next::<C, ()>(&mut end).await;
        })
    }

    /// What tells others whether the output is still wanted.
    pub(crate) fn demand(&self) -> Demand {
        self.demand.clone()
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
            self.demand.end();
        }
    }
}

impl<C: Async, O: Message> Drop for Output<C, O> {
    fn drop(&mut self) {
        if self.at_end == AtEnd::Close {
            C::close(&self.to);
        }
        C::close(&self.ended);
    }
}

/// Whether an output is still wanted, for the one who takes from the input.
#[derive(Clone)]
pub(crate) struct Demand(Arc<Mutex<Wanted>>);

#[derive(Default)]
struct Wanted {
    /// Somebody has seen that the output is closed (P3).
    ended: bool,
    /// Who waits for an item.
    taker: Option<Waker>,
}

impl Demand {
    /// The next item, unless the output is known to be closed: then nothing further is taken (P3), and a take
    /// that waits is dropped. One taker may wait at a time.
    pub(crate) async fn next<C: Async, I: Message>(&self, from: &mut C::Rx<I>) -> Option<I> {
        if self.0.lock().ended {
            return None;
        }
        let mut item = pin!(next::<C, I>(from));
        poll_fn(|context| {
            let polled = item.as_mut().poll(context);
            if polled.is_pending() && self.has_ended(context.waker()) {
                return Poll::Ready(None);
            }
            polled
        })
        .await
    }

    /// Whether nothing more is wanted; if not, that waker will be told.
    fn has_ended(&self, waker: &Waker) -> bool {
        // Cloned, and the old one dropped, without the lock: both run code of the executor.
        let waker = waker.clone();
        let mut wanted = self.0.lock();
        let old = wanted.taker.replace(waker);
        let ended = wanted.ended;
        drop(wanted);
        drop(old);
        ended
    }

    fn end(&self) {
        let mut wanted = self.0.lock();
        wanted.ended = true;
        let taker = wanted.taker.take();
        drop(wanted);
        if let Some(taker) = taker {
            taker.wake();
        }
    }
}
