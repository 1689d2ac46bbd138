//! Our pipelines, and what they have in common with those of published crates: how an item begins, how its
//! results are delivered, and how the output ends.

pub mod core_async;
mod ended;
pub mod finishes;
mod item;
mod lead;
mod loops;
mod room;
mod stint;
mod turns;
pub mod unordered;
pub mod upmap;
pub mod windowed;
pub mod workers;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Poll, Waker};

use flowmeter_harness::channel::{Async, Buffer, Channels, Message, PutError, TakeError};
use flowmeter_harness::pipeline::AtEnd;

use crate::sync::{Arc, Mutex};

pub use core_async::{CoreAsync, Swapped};
pub use finishes::Finishes;
pub use flowmeter_harness::transform_pipeline::TransformPipelines;
pub use unordered::Unordered;
pub use upmap::{EagerUpmap, Upmap, upmap};
pub use windowed::Windowed;
#[cfg(feature = "peers")]
pub(crate) use workers::emitted;
pub use workers::{Computing, HoldingUp, Workers, each_by};

/// core.async's `(chan 1)` for the results of an item.
pub(crate) const ONE: Buffer = Buffer::fixed(1);

/// A channel that a pipeline needs for itself.
pub(crate) fn open<C: Channels, T: Message>(buffer: Buffer) -> (C::Tx<T>, C::Rx<T>) {
    C::open(buffer).expect("the family has the buffers that the pipeline was made with")
}

/// A pipeline waits with one put and one take for each of its channels.
pub(crate) const TOO_MANY: &str = "others leave room for a pipeline to wait at its ports";

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

/// A channel between two loops, with that buffer. Its end is told by a message (`None`) instead of a close, which in some
/// families loses what is buffered.
fn between<C: Async, T: Message>(buffer: Buffer) -> (Outbox<C, T>, Inbox<C, T>) {
    let (tx, rx) = open::<C, Option<T>>(buffer);
    (Outbox { tx, ended: false }, Inbox(rx))
}

/// The putting half of a channel [`between`] two loops. Dropped before its end, by a panic of the loop that has it, it
/// closes the channel all the same: whoever takes from it would wait for ever.
struct Outbox<C: Async, T: Message> {
    tx: C::Tx<Option<T>>,
    ended: bool,
}

impl<C: Async, T: Message> Outbox<C, T> {
    /// As [`put`].
    async fn put(&mut self, value: T) -> bool {
        put::<C, _>(&mut self.tx, Some(value)).await
    }

    /// The only value: nobody asks what follows, and no close may lose it.
    async fn fill(mut self, value: T) {
        self.put(value).await;
        self.ended = true;
    }

    /// Nothing follows.
    async fn end(mut self) {
        put::<C, _>(&mut self.tx, None).await;
        self.ended = true;
    }
}

impl<C: Async, T: Message> Drop for Outbox<C, T> {
    fn drop(&mut self) {
        if !self.ended {
            C::close(&self.tx);
        }
    }
}

/// The taking half of a channel [`between`] two loops. Dropping it closes the channel, as some families do not notice
/// dropped halves: whoever puts is refused then, and does not wait for room that nobody will make.
struct Inbox<C: Async, T: Message>(C::Rx<Option<T>>);

impl<C: Async, T: Message> Inbox<C, T> {
    /// As [`next`]; nothing once the end was told.
    async fn next(&mut self) -> Option<T> {
        next::<C, _>(&mut self.0).await.flatten()
    }
}

impl<C: Async, T: Message> Drop for Inbox<C, T> {
    fn drop(&mut self) {
        C::close_rx(&mut self.0);
    }
}

/// The producer of a pipeline's output. Dropping it ends the output, stops whoever takes from the input, and tells
/// whoever waits for the end; so do a panic of the loop that has it, and an executor that drops its tasks.
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
            demand: Demand::default(),
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
        // Where the loop that had it has died nobody delivers any more, so nothing more is to be begun.
        self.demand.end();
        if self.at_end == AtEnd::Close {
            C::close(&self.to);
        }
        C::close(&self.ended);
    }
}

/// Whether an output is still wanted, for the one who takes from the input. It is not once it was seen closed, or
/// nobody is left to deliver.
#[derive(Clone, Default)]
pub(crate) struct Demand(Arc<Mutex<Wanted>>);

#[derive(Default)]
struct Wanted {
    /// Somebody has seen that the output is closed (P3), or it has nobody who delivers.
    ended: bool,
    /// Who waits for an item, or for leave to take one.
    taker: Option<Waker>,
}

impl Demand {
    /// The next item, unless the output is not wanted: then nothing further is taken (P3), and a take that waits is
    /// dropped. One taker may wait at a time.
    pub(crate) async fn next<C: Async, I: Message>(&self, from: &mut C::Rx<I>) -> Option<I> {
        self.unless_ended(next::<C, I>(from)).await.flatten()
    }

    /// What that comes to, unless the output is not wanted: then it is dropped. As with [`next`](Self::next),
    /// one may wait at a time.
    pub(crate) async fn unless_ended<T>(&self, wait: impl Future<Output = T>) -> Option<T> {
        if self.0.lock().ended {
            return None;
        }
        let mut wait = pin!(wait);
        poll_fn(|context| {
            let polled = wait.as_mut().poll(context).map(Some);
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

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::panic::resume_unwind;

    use flowmeter_harness::channel::Offered;
    use flowmeter_harness::executor::Executors;
    use flowmeter_harness::pipeline::{Pipelines, ResultPort};

    use super::*;
    use crate::channel::mutex::MutexChannels as C;
    use crate::executor::fixed_pool::FixedPool as E;
    use crate::sync::atomic::{AtomicBool, Ordering};
    use crate::sync::block_on;

    /// Closes a channel when the last input is gone.
    struct Inputs(<C as Channels>::Tx<()>);

    impl Drop for Inputs {
        fn drop(&mut self) {
            C::close(&self.0);
        }
    }

    /// A result whose drop panics where no other's has.
    struct Explosive(Arc<AtomicBool>);

    impl Drop for Explosive {
        fn drop(&mut self) {
            if !self.0.swap(true, Ordering::SeqCst) {
                resume_unwind(Box::new("a refused result"));
            }
        }
    }

    /// The collector dies of a refused result: then the input is let go with what is in it.
    fn lets_go_of_its_input<P: Pipelines<C, E>>(pipeline: P) {
        let executor = E::with_threads(NonZeroUsize::MIN);
        let (gone, mut all_gone) = open::<C, ()>(ONE);
        let inputs = Arc::new(Inputs(gone));
        let (mut from_there, from) = open::<C, Arc<Inputs>>(Buffer::fixed(100));
        for _ in 0..100 {
            let offered = C::offer(&mut from_there, Arc::clone(&inputs));
            assert!(matches!(offered, Offered::Done), "there is room");
        }
        drop((inputs, from_there));
        let (to, results) = open::<C, Explosive>(ONE);
        C::close(&to);
        let exploded = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&exploded);
        let af = move |_: Arc<Inputs>, mut port: ResultPort<C, Explosive, P::Permit>| {
            let result = Explosive(Arc::clone(&exploded));
            async move {
                let _ = port.put(result).await;
            }
        };
        let n = NonZeroUsize::new(2).unwrap();
        let end = pipeline.start(executor.spawner(), n, from, to, af, AtEnd::Close);
        block_on(end);
        block_on(next::<C, ()>(&mut all_gone));
        assert!(seen.load(Ordering::SeqCst), "nothing was refused");
        drop(results);
    }

    #[test]
    fn a_collector_that_dies_stops_core_async() {
        lets_go_of_its_input(CoreAsync::default());
    }

    #[test]
    fn a_collector_that_dies_stops_swapped() {
        lets_go_of_its_input(Swapped::default());
    }

    #[test]
    fn a_collector_that_dies_stops_finishes() {
        lets_go_of_its_input(Finishes::default());
    }

    #[test]
    fn a_collector_that_dies_stops_windowed() {
        // Room for no more than is in flight: whoever begins items waits for it.
        let n = NonZeroUsize::new(2).unwrap();
        lets_go_of_its_input(Windowed::with_window(windowed::Window::Items(n)));
    }
}
