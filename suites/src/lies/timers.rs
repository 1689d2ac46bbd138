//! Lies about timers: when they fire, whether, and what is left of them.

use std::future::Future;
use std::mem::forget;
use std::sync::Arc;
use std::time::Duration;

use flowmeter_harness::channel::{Buffer, Channels, Message};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::{
    BlockingSleep, Cancel, Coalesce, Fired, Reset, Sleep, Timeouts, Timers,
};

use super::deadlines::other;
use super::future::awaited;
use super::values::number;
use super::{channels, told};

/// A timer that does and answers what `T` does, but for one lie.
pub(super) struct Lying<T> {
    /// Gone only while it is dropped.
    real: Option<T>,
}

const HERE: &str = "a service is there until it is dropped";

impl<T> Lying<T> {
    fn of(real: T) -> Lying<T> {
        Lying { real: Some(real) }
    }

    fn real(&self) -> &T {
        self.real.as_ref().expect(HERE)
    }
}

impl<T> Drop for Lying<T> {
    fn drop(&mut self) {
        let real = self.real.take();
        if told("a timer is not shut down") {
            forget(real);
        }
    }
}

impl<T: Timers> Timers for Lying<T> {
    type Handle = T::Handle;

    fn start() -> Self {
        Lying::of(T::start())
    }

    fn schedule(&self, deadline: Deadline, then: impl FnOnce(Fired) + Send + 'static) -> T::Handle {
        if told("a callback is called at once") {
            then(Fired {
                due: deadline,
                claimed_nanos: None,
            });
            return self.real().schedule(deadline, |_| {});
        }
        if told("a callback is dropped at once") {
            drop(then);
            return self.real().schedule(deadline, |_| {});
        }
        if told("a callback has a timer of its own") {
            // Which ends with the call, and nobody waits for it.
            let own = Arc::new(T::start());
            let held = Arc::clone(&own);
            return own.schedule(deadline, move |fired| {
                then(fired);
                drop(held);
            });
        }
        let kept = other(deadline);
        let (forgotten, renamed) = (
            told("a callback is forgotten"),
            told("a callback is told of another deadline"),
        );
        // Whatever becomes of the timer, nobody drops it.
        let outlives = told("a callback that is not called is not dropped");
        let then = Kept(Some(then), outlives);
        self.real().schedule(kept, move |fired| {
            let mut then = then;
            let then = then.0.take();
            if forgotten {
                forget(then);
                return;
            }
            let due = match renamed {
                true => Deadline::from_nanos(fired.due.as_nanos() ^ 1),
                // A lie about the deadline is one about the moment alone.
                false if kept == deadline => fired.due,
                false => deadline,
            };
            if let Some(then) = then {
                then(Fired { due, ..fired });
            }
        })
    }
}

/// A callback, and whether it is forgotten where it would be dropped.
struct Kept<F>(Option<F>, bool);

impl<F> Drop for Kept<F> {
    fn drop(&mut self) {
        if self.1 {
            forget(self.0.take());
        }
    }
}

impl<T: Cancel> Cancel for Lying<T> {
    fn cancel(&self, handle: &T::Handle) -> bool {
        if told("a cancel does nothing and answers true") {
            return true;
        }
        if told("a cancel does nothing and answers false") {
            return false;
        }
        self.real().cancel(handle) ^ told("a cancel is answered otherwise")
    }
}

impl<T: Coalesce> Coalesce for Lying<T> {
    fn schedule_within(
        &self,
        deadline: Deadline,
        window: Duration,
        then: impl FnOnce(Fired) + Send + 'static,
    ) -> T::Handle {
        if told("a window is taken for longer than it is") {
            return self.real().schedule_within(deadline, 2 * window, then);
        }
        if told("a window begins early") {
            let earlier = Deadline::from_nanos(deadline.as_nanos() / 2);
            return self.real().schedule_within(earlier, window, then);
        }
        if told("a timer is told the beginning of its window") {
            let then = move |fired| {
                then(Fired {
                    due: deadline,
                    ..fired
                })
            };
            return self.real().schedule_within(deadline, window, then);
        }
        if told("a window is not used") {
            return self.real().schedule(deadline, then);
        }
        if told("two of one window are one timer") {
            let first = self.real().schedule_within(deadline, window, |_| {});
            self.real().cancel(&first);
            drop(then);
            return first;
        }
        self.real().schedule_within(deadline, window, then)
    }
}

impl<T: Reset> Reset for Lying<T> {
    fn reset(&self, handle: &T::Handle, deadline: Deadline) -> bool {
        if told("a reset does nothing and answers true") {
            return true;
        }
        if told("a reset does nothing and answers false") {
            return false;
        }
        self.real().reset(handle, other(deadline)) ^ told("a reset is answered otherwise")
    }
}

impl<S: Sleep> Sleep for Lying<S> {
    fn start() -> Self {
        Lying::of(S::start())
    }

    fn sleep_until(&self, deadline: Deadline) -> impl Future<Output = ()> + Send + 'static {
        awaited(self.real().sleep_until(other(deadline)))
    }
}

impl<S: BlockingSleep> BlockingSleep for Lying<S> {
    fn start() -> Self {
        Lying::of(S::start())
    }

    fn sleep_until(&self, deadline: Deadline) {
        self.real().sleep_until(other(deadline));
    }
}

/// A service of timeouts that lies: a type of its own, since one service may be timers and timeouts.
pub(super) struct Timeout<S>(Lying<S>);

/// Over channels that lie as well.
impl<C: Channels, S: Timeouts<C>> Timeouts<channels::Lying<C>> for Timeout<S> {
    fn start() -> Self {
        Timeout(Lying::of(S::start()))
    }

    fn timeout<T: Message>(&self, delay: Duration) -> channels::Rx<C, T> {
        if told("a timeout has a value")
            && let Some(rx) = with_a_value::<C, T>()
        {
            return channels::Rx::of(rx);
        }
        let delay = if told("a timeout is at once") {
            Duration::ZERO
        } else if told("a timeout is never") {
            Duration::MAX
        } else if told("a timeout is a millisecond early") {
            delay.saturating_sub(Duration::from_millis(1))
        } else if told("a timeout is late") {
            delay.saturating_add(Duration::from_millis(21))
        } else if told("a timeout is a millisecond late") {
            delay.saturating_add(Duration::from_millis(1))
        } else {
            delay
        };
        channels::Rx::of(self.0.real().timeout(delay))
    }
}

/// A channel with a value, which nobody closes.
fn with_a_value<C: Channels, T: Message>() -> Option<C::Rx<T>> {
    let (mut tx, rx) = C::open::<T>(Buffer::fixed(1))?;
    C::offer(&mut tx, number()?);
    forget(tx);
    Some(rx)
}
