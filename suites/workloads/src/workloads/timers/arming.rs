//! Arming timers, cancelling and moving them: by handles, or as futures that are polled once.

use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::{Cancel, Reset, Sleep, Timers};
use flowmeter_measure::StageError;

use super::calls::{Awaited, Calls};

/// Arms timers.
pub trait Arming: Send + Sync + 'static {
    /// A timer that is armed.
    type Armed: Send + 'static;

    /// A service of its own.
    fn start() -> Self;

    /// Arms a timer with an unobserved firing. Its callback holds 16 bytes, as one with real work would: an
    /// implementation that boxes callbacks has to box it.
    fn arm(&self, deadline: Deadline) -> Self::Armed;

    /// Arms one that is counted when it fires.
    fn arm_counted(&self, deadline: Deadline, calls: &'static Calls) -> Self::Armed;

    /// Waits until a due timer has fired, after all earlier requests. A new service has started then, and one that
    /// receives requests as messages has received them. No other timer may count with those calls.
    ///
    /// # Errors
    /// `FailureKind::Hang` where it does not fire.
    fn catch_up(&self, calls: &'static Calls) -> Result<(), StageError> {
        let due = self.arm_counted(Deadline::from_nanos(0), calls);
        calls.wait_for(1)?;
        calls.reset();
        drop(due);
        Ok(())
    }
}

/// And cancels them.
pub trait Cancelling: Arming {
    /// Cancels one; `false` if it had fired.
    fn cancel(&self, armed: Self::Armed) -> bool;

    /// Arms one and cancels it; `false` if it had fired.
    #[inline]
    fn arm_and_cancel(&self, deadline: Deadline) -> bool {
        let armed = self.arm(deadline);
        self.cancel(armed)
    }
}

/// And moves their deadlines.
pub trait Moving: Arming {
    /// Moves one; `false` if it had fired. It stays counted if it was, as long as the count is used.
    fn move_to(
        &self,
        armed: &mut Self::Armed,
        deadline: Deadline,
        calls: Option<&'static Calls>,
    ) -> bool;
}

/// By schedule and cancel. Moving is cancelling and scheduling anew.
pub struct ByHandle<T>(T);

impl<T: Timers> Arming for ByHandle<T> {
    type Armed = T::Handle;

    fn start() -> Self {
        ByHandle(T::start())
    }

    #[inline]
    fn arm(&self, deadline: Deadline) -> T::Handle {
        let held = [deadline.as_nanos(); 2];
        self.0.schedule(deadline, move |_| {
            black_box(held);
        })
    }

    #[inline]
    fn arm_counted(&self, deadline: Deadline, calls: &'static Calls) -> T::Handle {
        self.0.schedule(deadline, |fired| calls.one_more(fired.due))
    }
}

impl<T: Cancel> Cancelling for ByHandle<T> {
    #[inline]
    fn cancel(&self, armed: T::Handle) -> bool {
        self.0.cancel(&armed)
    }
}

impl<T: Cancel> Moving for ByHandle<T> {
    #[inline]
    fn move_to(
        &self,
        armed: &mut T::Handle,
        deadline: Deadline,
        calls: Option<&'static Calls>,
    ) -> bool {
        let cancelled = self.0.cancel(armed);
        *armed = match calls {
            None => self.arm(deadline),
            Some(calls) => self.arm_counted(deadline, calls),
        };
        cancelled
    }
}

/// By schedule and reset.
pub struct ByReset<T>(ByHandle<T>);

impl<T: Timers> Arming for ByReset<T> {
    type Armed = T::Handle;

    fn start() -> Self {
        ByReset(ByHandle::start())
    }

    #[inline]
    fn arm(&self, deadline: Deadline) -> T::Handle {
        self.0.arm(deadline)
    }

    #[inline]
    fn arm_counted(&self, deadline: Deadline, calls: &'static Calls) -> T::Handle {
        self.0.arm_counted(deadline, calls)
    }
}

impl<T: Reset> Moving for ByReset<T> {
    #[inline]
    fn move_to(
        &self,
        armed: &mut T::Handle,
        deadline: Deadline,
        _calls: Option<&'static Calls>,
    ) -> bool {
        self.0.0.reset(armed, deadline)
    }
}

/// By futures, polled once. Cancelling is dropping, and moving is dropping and making a new one.
pub struct ByFuture<S>(S);

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A future that was polled.
pub struct Polled {
    future: Boxed,
    /// Counts when it is ready.
    awaited: Option<Arc<Awaited>>,
}

/// Polls it once; `false` if it was ready.
#[inline]
fn begin(future: Pin<&mut impl Future<Output = ()>>, waker: &Waker) -> bool {
    future.poll(&mut Context::from_waker(waker)) == Poll::Pending
}

impl<S: Sleep> Arming for ByFuture<S> {
    type Armed = Polled;

    fn start() -> Self {
        ByFuture(S::start())
    }

    fn arm(&self, deadline: Deadline) -> Polled {
        let mut future = Box::pin(self.0.sleep_until(deadline));
        begin(future.as_mut(), Waker::noop());
        Polled {
            future,
            awaited: None,
        }
    }

    fn arm_counted(&self, deadline: Deadline, calls: &'static Calls) -> Polled {
        let mut future = Box::pin(self.0.sleep_until(deadline));
        let awaited = Awaited::new(calls, deadline);
        if !begin(future.as_mut(), &awaited.clone().into()) {
            awaited.is_ready();
        }
        Polled {
            future,
            awaited: Some(awaited),
        }
    }
}

impl<S: Sleep> Cancelling for ByFuture<S> {
    /// A future does not report whether it was ready, and its owner need not know. One that is not counted was not
    /// ready.
    #[inline]
    fn cancel(&self, armed: Polled) -> bool {
        drop(armed.future);
        armed.awaited.is_none_or(|awaited| awaited.stop())
    }

    #[inline]
    fn arm_and_cancel(&self, deadline: Deadline) -> bool {
        begin(pin!(self.0.sleep_until(deadline)), Waker::noop())
    }
}

impl<S: Sleep> Moving for ByFuture<S> {
    fn move_to(
        &self,
        armed: &mut Polled,
        deadline: Deadline,
        calls: Option<&'static Calls>,
    ) -> bool {
        *armed = match calls {
            None => self.arm(deadline),
            Some(calls) => self.arm_counted(deadline, calls),
        };
        true
    }
}
