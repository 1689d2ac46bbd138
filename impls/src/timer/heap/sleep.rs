//! A deadline as a future.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::sync::Deadline;

use crate::sync::{Arc, Mutex, clock};

use super::{Handle, Shared};

/// Ready at its deadline, or when its service ends. Armed by its first poll; dropping it calls it off.
pub struct SleepFuture {
    shared: Arc<Shared>,
    due: Deadline,
    armed: Option<(Handle, Arc<Mutex<Alarm>>)>,
}

/// What the timer's thread and the future share.
struct Alarm {
    rung: bool,
    waker: Option<Waker>,
}

/// Rings when dropped: when the timer fires, and when it never will (T8).
struct Bell(Arc<Mutex<Alarm>>);

impl Drop for Bell {
    fn drop(&mut self) {
        let mut alarm = self.0.lock();
        alarm.rung = true;
        let waker = alarm.waker.take();
        drop(alarm);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl SleepFuture {
    pub(super) fn new(shared: Arc<Shared>, due: Deadline) -> Self {
        SleepFuture {
            shared,
            due,
            armed: None,
        }
    }
}

impl Future for SleepFuture {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // A waker's clone and drop are foreign code: outside the lock.
        if let Some((_, alarm)) = &self.armed {
            let waker = cx.waker().clone();
            let mut alarm = alarm.lock();
            if alarm.rung {
                return Poll::Ready(());
            }
            let earlier = alarm.waker.replace(waker);
            drop(alarm);
            drop(earlier);
            return Poll::Pending;
        }
        if clock::has_passed(self.due) {
            return Poll::Ready(());
        }
        let alarm = Arc::new(Mutex::new(Alarm {
            rung: false,
            waker: Some(cx.waker().clone()),
        }));
        let bell = Bell(Arc::clone(&alarm));
        let then = Box::new(move |_| drop(bell));
        let handle = self.shared.schedule(self.due, then);
        self.armed = Some((handle, alarm));
        Poll::Pending
    }
}

impl Drop for SleepFuture {
    fn drop(&mut self) {
        if let Some((handle, _)) = &self.armed {
            self.shared.cancel(handle);
        }
    }
}

impl fmt::Debug for SleepFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SleepFuture")
            .field("due", &self.due)
            .finish_non_exhaustive()
    }
}
