//! Faults injected into futures: which tasks they wake, when they are ready, and what a dropped one leaves behind.

use std::future::{Future, poll_fn};
use std::mem::forget;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::told;

/// The future's answer.
pub(super) async fn awaited<A: Send>(future: impl Future<Output = A> + Send) -> A {
    let mut waiting = Waiting(Some(Box::pin(future)));
    let answer = poll_fn(|context| waiting.poll(context)).await;
    let mut late = told("a future is ready one poll late");
    poll_fn(|context| {
        if std::mem::take(&mut late) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    })
    .await;
    answer
}

/// The future. Under one fault it answers instead of being polled, and under another when it waits. It goes on when
/// it is polled again.
pub(super) fn hasty<A: Send>(
    future: impl Future<Output = A> + Send,
    [unpolled, waiting]: [&'static str; 2],
    answer: impl Fn() -> A + Send,
) -> impl Future<Output = A> + Send {
    let mut future = Box::pin(future);
    poll_fn(move |context| {
        if told(unpolled) {
            return Poll::Ready(answer());
        }
        match future.as_mut().poll(context) {
            Poll::Pending if told(waiting) => Poll::Ready(answer()),
            polled => polled,
        }
    })
}

/// A future that may be dropped before it is ready.
struct Waiting<F>(Option<Pin<Box<F>>>);

impl<A, F: Future<Output = A>> Waiting<F> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<A> {
        let Some(future) = &mut self.0 else {
            return Poll::Pending;
        };
        let polled = if told("a future forgets its waker") {
            future
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
        } else {
            future.as_mut().poll(context)
        };
        if polled.is_ready() {
            self.0 = None;
            if told("an answer never comes") {
                return Poll::Pending;
            }
        }
        polled
    }
}

impl<F> Drop for Waiting<F> {
    fn drop(&mut self) {
        let waits = self.0.take();
        if waits.is_some() && told("a dropped future waits on") {
            forget(waits);
        }
    }
}
