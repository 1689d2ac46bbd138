//! Whether an item has ended, for the loop that has begun it.

use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

use crate::sync::{Arc, Mutex};

/// Told by each item of a loop, one after the other.
#[derive(Debug, Default)]
pub(super) struct Ended(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    ended: bool,
    waits: Option<Waker>,
}

/// An item's, until it has ended.
#[derive(Debug)]
pub struct Permit(Arc<Ended>);

impl Permit {
    /// Of the loop's next item: the one before has ended.
    pub(super) fn of(ended: &Arc<Ended>) -> Self {
        Permit(Arc::clone(ended))
    }
}

impl Ended {
    /// Waits until the item has.
    pub(super) async fn wait(&self) {
        poll_fn(|context| self.poll_ended(context)).await;
    }

    fn poll_ended(&self, context: &Context<'_>) -> Poll<()> {
        if std::mem::take(&mut self.0.lock().ended) {
            return Poll::Ready(());
        }
        // Cloned, and the old one dropped, without the lock: both run code of the executor.
        let waker = context.waker().clone();
        let mut state = self.0.lock();
        if std::mem::take(&mut state.ended) {
            return Poll::Ready(());
        }
        let old = state.waits.replace(waker);
        drop(state);
        drop(old);
        Poll::Pending
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        state.ended = true;
        let waits = state.waits.take();
        drop(state);
        if let Some(waits) = waits {
            waits.wake();
        }
    }
}
