//! hierarchical_hash_wheel_timer's thread timer: a wheel with four levels and ticks of 1 ms.
//!
//! | offered | where the crate documents it |
//! | --- | --- |
//! | schedule | `Timer::schedule_once`: "Schedule the `state` to be triggered once after the `timeout` expires" |
//! | cancel | `Timer::cancel`: "Cancel the timer indicated by the unique `id`" |
//!
//! Nothing is claimed. The crate documents neither an order within a tick nor panics, and "long actions can delay the
//! execution of later timers" (`OneshotState::trigger`). Moving a deadline is not offered: an id can be scheduled
//! twice, and the fate of the first timer is not documented.
//!
//! "It is only guaranteed that the `state` is not triggered *before* the `timeout` expires". With a fraction of a
//! millisecond it is triggered before (docs/peers.md). The adapter therefore asks for whole milliseconds, rounded up,
//! and one more for the tick that has begun. A timer that is already due is asked for without delay. One case remains:
//! a timer counted from before a slow callback is early, and fails.
//!
//! Scheduling is a message to the timer's thread. So a measurement of arming or cancelling measures the sending of
//! messages. The thread does the work at the wheel meanwhile and afterwards, and that cost is in no such number.
//!
//! A cancel is a message to the timer's thread too, and has no answer. So a timer may fire after it. The callback is in
//! a shared place. Either the timer's thread takes it out and calls it, or a cancel takes it out and drops it. That
//! place is one allocation, which the crate's own closures need as well. The wheel forgets a cancelled timer only when
//! it comes to its slot.

use ::std::cell::Cell;
use ::std::fmt;
use ::std::time::Duration;

use ::hierarchical_hash_wheel_timer::thread_timer::{TimerRef, TimerWithThread};
use ::hierarchical_hash_wheel_timer::{OneshotState, PeriodicClosureState, Timer};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::{Cancel, Fired, Timers};

use crate::sync::{Arc, Mutex, clock, order_key, thread_local};

thread_local! {
    /// The service that owns this thread; 0 for none, and until it has fired its first timer.
    static HERE: Cell<u64> = const { Cell::new(0) };
}

/// The crate's timer, and the thread of its own on which it fires.
pub struct HashWheelTimer {
    /// Distinguishes its timers from those of another service.
    service: u64,
    /// `None` once it is dropped.
    core: Option<TimerWithThread<u64, Armed, PeriodicClosureState<u64>>>,
    requests: TimerRef<u64, Armed, PeriodicClosureState<u64>>,
}

/// Names one timer of a [`HashWheelTimer`].
pub struct TimerId {
    service: u64,
    id: u64,
    place: Arc<dyn Place>,
}

/// Holds a callback until the first caller takes it out.
trait Place: Send + Sync {
    /// Takes the callback out and calls it.
    fn call(&self);
    /// Takes the callback out and drops it; `false` if it was gone.
    fn clear(&self) -> bool;
}

struct Callback<F> {
    due: Deadline,
    then: Mutex<Option<F>>,
}

impl<F: FnOnce(Fired) + Send> Place for Callback<F> {
    fn call(&self) {
        // Called and dropped outside the lock, because a callback may own a value that uses the timer.
        let then = self.then.lock().take();
        if let Some(then) = then {
            then(Fired {
                due: self.due,
                claimed_nanos: None,
            });
        }
    }

    fn clear(&self) -> bool {
        let then = self.then.lock().take();
        then.is_some()
    }
}

/// What the wheel holds of a timer.
struct Armed {
    service: u64,
    id: u64,
    place: Arc<dyn Place>,
}

impl OneshotState for Armed {
    type Id = u64;

    fn id(&self) -> &u64 {
        &self.id
    }

    fn trigger(self) {
        HERE.with(|here| here.set(self.service));
        self.place.call();
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        // A name may outlive the wheel, but its callback must not.
        self.place.clear();
    }
}

impl fmt::Debug for Armed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Armed({})", self.id)
    }
}

impl fmt::Debug for TimerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TimerId({}, {})", self.service, self.id)
    }
}

impl fmt::Debug for HashWheelTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashWheelTimer").finish_non_exhaustive()
    }
}

/// The delay to ask the crate for, so that it does not fire before that deadline.
#[inline]
fn timeout(deadline: Deadline) -> Duration {
    match clock::left(deadline) {
        None => Duration::MAX,
        Some(Duration::ZERO) => Duration::ZERO,
        Some(left) => {
            let millis = left.as_nanos().div_ceil(1_000_000) as u64;
            Duration::from_millis(millis + 1)
        }
    }
}

impl Timers for HashWheelTimer {
    type Handle = TimerId;

    /// # Panics
    /// When the system refuses a thread.
    fn start() -> Self {
        let core = TimerWithThread::new().expect("the system has room for a thread");
        HashWheelTimer {
            service: order_key(),
            requests: core.timer_ref(),
            core: Some(core),
        }
    }

    #[inline]
    fn schedule(&self, deadline: Deadline, then: impl FnOnce(Fired) + Send + 'static) -> TimerId {
        let place: Arc<dyn Place> = Arc::new(Callback {
            due: deadline,
            then: Mutex::new(Some(then)),
        });
        let id = order_key();
        let armed = Armed {
            service: self.service,
            id,
            place: Arc::clone(&place),
        };
        // Its methods need `&mut`, and it is made to be cloned.
        self.requests
            .clone()
            .schedule_once(timeout(deadline), armed);
        TimerId {
            service: self.service,
            id,
            place,
        }
    }
}

impl Cancel for HashWheelTimer {
    #[inline]
    fn cancel(&self, handle: &TimerId) -> bool {
        let cancelled = handle.service == self.service && handle.place.clear();
        if cancelled {
            self.requests.clone().cancel(&handle.id);
        }
        cancelled
    }
}

impl Drop for HashWheelTimer {
    fn drop(&mut self) {
        let Some(core) = self.core.take() else {
            return;
        };
        // Both return an error if the crate's thread has panicked. The crate prints that.
        let _ = if HERE.with(Cell::get) == self.service {
            // A callback of this service runs on its thread, and cannot wait for that thread to end.
            core.shutdown_async()
        } else {
            core.shutdown()
        };
    }
}
