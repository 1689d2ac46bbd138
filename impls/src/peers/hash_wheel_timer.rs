//! hierarchical_hash_wheel_timer's thread timer: a wheel with four levels and ticks of 1 ms.
//!
//! | offered | where the crate documents it |
//! | --- | --- |
//! | schedule | `Timer::schedule_once`: "Schedule the `state` to be triggered once after the `timeout` expires" |
//! | cancel | `Timer::cancel`: "Cancel the timer indicated by the unique `id`" |
//!
//! Nothing is claimed: neither an order within a tick nor panics are spoken of, and "long actions can delay the
//! execution of later timers" (`OneshotState::trigger`). Moving a deadline is not offered: an id can be scheduled
//! twice, and what then becomes of the first is not said.
//!
//! "It is only guaranteed that the `state` is not triggered *before* the `timeout` expires", and with a fraction of
//! a millisecond it is (docs/peers.md). What is asked for here are therefore whole milliseconds, rounded up, and one
//! more, for the tick that has begun; what is due already is asked for without delay. That does not help against what is
//! counted from before a callback that was slow: such a timer is early, and a failure.
//!
//! Scheduling is a message to the timer's thread as well, so what is measured of arming and calling off is the sending
//! of messages; the wheel is worked by that thread meanwhile and afterwards, and what that takes is in no such number.
//!
//! A cancel is a message to the timer's thread and has no answer, so a timer may fire behind it. Whoever takes the
//! callback out of its place has it: the thread to call it, or a cancel to drop it. That place is the one
//! allocation that the crate's own closures have as well. The wheel forgets a cancelled timer only when it comes to
//! its slot.

use ::std::cell::Cell;
use ::std::fmt;
use ::std::time::Duration;

use ::hierarchical_hash_wheel_timer::thread_timer::{TimerRef, TimerWithThread};
use ::hierarchical_hash_wheel_timer::{OneshotState, PeriodicClosureState, Timer};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::{Cancel, Fired, Timers};

use crate::sync::{Arc, Mutex, clock, order_key, thread_local};

thread_local! {
    /// The service whose thread this is; 0 for none, and until it has fired something.
    static HERE: Cell<u64> = const { Cell::new(0) };
}

/// The crate's timer, and the thread of its own on which it fires.
pub struct HashWheelTimer {
    /// Tells its timers from those of another service.
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

/// Where a callback waits for the first to take it out.
trait Place: Send + Sync {
    /// Takes it out and calls it.
    fn call(&self);
    /// Takes it out and drops it; `false`: it was gone.
    fn clear(&self) -> bool;
}

struct Callback<F> {
    due: Deadline,
    then: Mutex<Option<F>>,
}

impl<F: FnOnce(Fired) + Send> Place for Callback<F> {
    fn call(&self) {
        // Called, and dropped, outside the lock: a callback may own what uses the timer.
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
        // A name outlives the wheel, and its callback must not.
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

/// How long the crate is asked to wait, so that it does not fire before that deadline.
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
        // Its methods ask for `&mut`, and it is there to be cloned.
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
        // What either answers is printed by the crate: that its thread has panicked.
        let _ = if HERE.with(Cell::get) == self.service {
            // One of its own callbacks cannot wait for its thread, which ends after it.
            core.shutdown_async()
        } else {
            core.shutdown()
        };
    }
}
