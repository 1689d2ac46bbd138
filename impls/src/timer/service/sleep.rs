//! A deadline as a future.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use flowmeter_harness::sync::Deadline;

use crate::sync::Arc;

use super::{Call, Handle, Index, Shared};

/// Ready at its deadline, or when its service ends. The first poll arms it; dropping it cancels it.
pub struct SleepFuture<I: Index> {
    shared: Arc<Shared<I>>,
    due: Deadline,
    armed: Option<Handle>,
}

impl<I: Index> SleepFuture<I> {
    pub(super) fn new(shared: Arc<Shared<I>>, due: Deadline) -> Self {
        SleepFuture {
            shared,
            due,
            armed: None,
        }
    }

    /// It has fired, or its service has ended: nothing is left to cancel.
    #[inline]
    fn end(&mut self) -> Poll<()> {
        self.armed = None;
        Poll::Ready(())
    }
}

impl<I: Index> Future for SleepFuture<I> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(handle) = &self.armed {
            let mut state = self.shared.state.lock();
            match state.agenda.get_mut(handle.0) {
                Some(call) if call.will_wake(cx.waker()) => return Poll::Pending,
                Some(_) => {}
                None => {
                    drop(state);
                    return self.end();
                }
            }
        }
        // A waker's clone and drop are foreign code: outside the lock.
        let waker = Call::wake(cx.waker().clone());
        if let Some(handle) = &self.armed {
            let mut state = self.shared.state.lock();
            let Some(call) = state.agenda.get_mut(handle.0) else {
                drop(state);
                return self.end();
            };
            let earlier = mem::replace(call, waker);
            drop(state);
            drop(earlier);
            return Poll::Pending;
        }
        match self.shared.schedule_sleep(self.due, waker) {
            Ok(handle) => {
                self.armed = Some(handle);
                Poll::Pending
            }
            Err(_) => Poll::Ready(()),
        }
    }
}

impl<I: Index> Drop for SleepFuture<I> {
    fn drop(&mut self) {
        if let Some(handle) = &self.armed {
            self.shared.cancel(handle);
        }
    }
}

impl<I: Index> fmt::Debug for SleepFuture<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SleepFuture")
            .field("due", &self.due)
            .finish_non_exhaustive()
    }
}
