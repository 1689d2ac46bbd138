//! Tasks that move: each is polled first under a waker that is forgotten, then under another. What it waits for has to
//! wake the later one, so a future that keeps the waker of its first poll is never woken.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::executor::Spawn;

use super::bell::Bell;

/// A spawner of tasks that move.
#[derive(Clone)]
pub(crate) struct Moving<S>(pub(crate) S);

impl<S: Spawn> Spawn for Moving<S> {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(moved(task));
    }

    fn spawn_blocking(&self, work: impl FnOnce() + Send + 'static) {
        self.0.spawn_blocking(work);
    }
}

/// That future, polled twice each time. The first waker reaches no task.
async fn moved<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|context| {
        let left = Waker::from(Arc::new(Bell::default()));
        match future.as_mut().poll(&mut Context::from_waker(&left)) {
            Poll::Pending => future.as_mut().poll(context),
            ready => ready,
        }
    })
    .await
}
