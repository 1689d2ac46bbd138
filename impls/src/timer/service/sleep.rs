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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{block_on, clock};
    use crate::timer::heap::Heap;
    use flowmeter_harness::timer::Sleep;

    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{RawWaker, RawWakerVTable, Waker};
    use std::time::Duration;

    static CLONES: AtomicUsize = AtomicUsize::new(0);

    fn cloned(_: *const ()) -> RawWaker {
        CLONES.fetch_add(1, Ordering::Relaxed);
        RawWaker::new(std::ptr::null(), &COUNTS)
    }

    static COUNTS: RawWakerVTable = RawWakerVTable::new(cloned, |_| (), |_| (), |_| ());

    #[test]
    fn a_sleep_clones_the_waker_of_its_task_once_however_often_it_is_polled() {
        let timers = Heap::new();
        // SAFETY: its functions use no data.
        let waker = unsafe { Waker::new(std::ptr::null(), &COUNTS) };
        let mut sleep = pin!(Sleep::sleep_until(&timers, Deadline::NEVER));
        for _ in 0..3 {
            let polled = sleep.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
            assert_eq!(CLONES.load(Ordering::Relaxed), 1);
        }
    }

    #[test]
    fn a_sleep_that_has_ended_is_ready_again_and_holds_no_timer() {
        let timers = Heap::new();
        let mut sleep = pin!(SleepFuture::new(
            Arc::clone(&timers.shared),
            clock::after(Duration::from_millis(1))
        ));
        block_on(sleep.as_mut());
        assert!(sleep.armed.is_none());
        let again = sleep.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(again.is_ready());
    }
}
