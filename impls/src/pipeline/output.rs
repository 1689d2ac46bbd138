//! How a pipeline delivers its results, how the output ends, and whether it is still wanted.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Poll, Waker};

use flowmeter_harness::channel::{Async, Message, PutError};
use flowmeter_harness::pipeline::AtEnd;

use crate::sync::{Arc, Mutex};

use super::{ONE, TOO_MANY, next, open};

/// The producer of a pipeline's output. Dropping it ends the output, stops the loop that takes from the input, and
/// completes the future of the end. A panic of the loop that holds it drops it too, as does an executor that drops
/// its tasks.
pub(crate) struct Output<C: Async, O: Message> {
    pub(super) to: C::Tx<O>,
    pub(super) at_end: AtEnd,
    demand: Demand,
    /// A put is in progress, or a loop has panicked in one. In the latter case further results would follow a gap.
    putting: bool,
    /// Closed at the end, and never put into.
    ended: C::Tx<()>,
}

impl<C: Async, O: Message> Output<C, O> {
    /// The only producer of `to`, and a future that is ready when the producer is dropped.
    pub(crate) fn only(
        to: C::Tx<O>,
        at_end: AtEnd,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (ended, mut end) = open::<C, ()>(ONE);
        let output = Output {
            to,
            at_end,
            demand: Demand::default(),
            putting: false,
            ended,
        };
        (output, async move {
            next::<C, ()>(&mut end).await;
        })
    }

    /// Tells other loops whether the output is still wanted.
    pub(crate) fn demand(&self) -> Demand {
        self.demand.clone()
    }

    /// Delivers everything that comes out of `results`. Where the output is no longer wanted it still takes the
    /// rest, so that the item ends and counts until then.
    pub(crate) async fn deliver(&mut self, results: &mut C::Rx<O>) {
        while let Some(result) = next::<C, O>(results).await {
            self.put(result).await;
        }
    }

    /// Delivers one result, unless the output is closed or an earlier put has panicked.
    ///
    /// # Panics
    /// As [`next`].
    pub(crate) async fn put(&mut self, result: O) {
        if std::mem::replace(&mut self.putting, true) {
            return self.demand.end();
        }
        match C::put_async(&mut self.to, result).await {
            Ok(()) => {}
            Err(PutError::Closed(refused)) => {
                // Before the drop of the refused result, which may panic.
                self.demand.end();
                drop(refused);
            }
            Err(PutError::TooManyWaiters(_)) => panic!("{TOO_MANY}"),
        }
        self.putting = false;
    }
}

impl<C: Async, O: Message> Drop for Output<C, O> {
    fn drop(&mut self) {
        // If the loop that held this has panicked, no loop delivers any more, so no further item may begin.
        self.demand.end();
        if self.at_end == AtEnd::Close {
            C::close(&self.to);
        }
        C::close(&self.ended);
    }
}

/// Whether an output is still wanted, for the loop that takes from the input. It no longer is once a loop has seen
/// it closed, or no loop is left to deliver.
#[derive(Clone, Default)]
pub(crate) struct Demand(Arc<Mutex<Wanted>>);

#[derive(Default)]
struct Wanted {
    /// A loop has seen that the output is closed (P3), or no loop is left to deliver.
    ended: bool,
    /// The loop that waits for an item, or for permission to take one.
    taker: Option<Waker>,
}

impl Demand {
    /// The next item, unless the output is not wanted. Then nothing further is taken (P3), and a waiting take is
    /// dropped. One taker may wait at a time.
    pub(crate) async fn next<C: Async, I: Message>(&self, from: &mut C::Rx<I>) -> Option<I> {
        self.unless_ended(next::<C, I>(from)).await.flatten()
    }

    /// The output of `wait`, unless the pipeline's output is not wanted: then `wait` is dropped. As with
    /// [`next`](Self::next), one may wait at a time.
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

    /// Whether nothing more is wanted. If more is, `waker` is woken when that changes.
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

    pub(super) fn end(&self) {
        let mut wanted = self.0.lock();
        wanted.ended = true;
        let taker = wanted.taker.take();
        drop(wanted);
        if let Some(taker) = taker {
            taker.wake();
        }
    }
}
