//! `heap`: one lock, a heap of deadlines, and one thread that sleeps until the earliest of them.
//!
//! Deadlines are nanoseconds of the monotonic clock. The thread is woken only for a deadline earlier than the
//! one it sleeps for. Callbacks run on it one after the other, in the order of their deadlines, outside the
//! lock; what one of them panics with is counted and goes no further. They are called in batches: one that is
//! armed after a batch began, however early its deadline, comes in the next, so that a callback that arms itself
//! anew in the past holds up nobody else (T5).

mod sleep;
mod state;

use std::fmt;
use std::time::Duration;

use flowmeter_harness::channel::{Channels, Message};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::{BlockingSleep, Cancel, Fired, Reset, Sleep, Timeouts, Timers};

use crate::own_thread::OwnThread;
use crate::sync::{Arc, Condvar, Mutex, block_on, clock, precise_wakeups};

use super::closing;
use super::contained::Contained;

pub use sleep::SleepFuture;

use state::{Call, State};

/// A timer service. Dropping it ends its thread: armed callbacks are dropped uncalled, and who sleeps or waits
/// for a timeout is answered (T8).
pub struct Heap {
    shared: Arc<Shared>,
    thread: OwnThread,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    contained: Contained,
}

/// Names one timer for ever, and among those of all services.
#[derive(Debug)]
pub struct Handle(u64);

impl Heap {
    /// A service of its own.
    pub fn new() -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new()),
            changed: Condvar::new(),
            contained: Contained::new(),
        });
        let working = Arc::clone(&shared);
        let thread = OwnThread::start(move || {
            precise_wakeups();
            working.serve();
        });
        Heap { shared, thread }
    }

    /// How many callbacks have panicked, when called or when dropped by the end of the service.
    pub fn panics(&self) -> u64 {
        self.shared.contained.panics()
    }
}

impl Default for Heap {
    fn default() -> Self {
        Heap::new()
    }
}

impl fmt::Debug for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Heap")
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.stopping = true;
        let uncalled = state.take_all();
        drop(state);
        self.shared.changed.notify_one();
        // Before the wait for the thread: it may run a callback that waits for one of these, or for a sleeper.
        for timer in uncalled.into_values() {
            self.shared.contained.run(|| drop(timer));
        }
        self.thread.join();
    }
}

impl Shared {
    /// Arms a timer. One that comes after the end is dropped uncalled, like those before it.
    fn schedule(&self, due: Deadline, then: Call) -> Handle {
        let mut state = self.state.lock();
        if state.stopping {
            drop(state);
            drop(then);
            return Handle(u64::MAX);
        }
        let number = state.arm(due, then);
        let wake = state.oversleeps(due);
        drop(state);
        if wake {
            self.changed.notify_one();
        }
        Handle(number)
    }

    fn cancel(&self, handle: &Handle) -> bool {
        // A callback's own drop is foreign code: outside the lock.
        let disarmed = self.state.lock().disarm(handle.0);
        disarmed.is_some()
    }

    fn reset(&self, handle: &Handle, due: Deadline) -> bool {
        let mut state = self.state.lock();
        let armed = state.rearm(handle.0, due);
        let wake = armed && state.oversleeps(due);
        drop(state);
        if wake {
            self.changed.notify_one();
        }
        armed
    }

    /// What the thread does.
    fn serve(&self) {
        let mut state = self.state.lock();
        while !state.stopping {
            let Some(timer) = state.take_due() else {
                let due = state.earliest().unwrap_or(Deadline::NEVER);
                state.asleep_until = Some(due);
                (state, _) = self.changed.wait_until(state, due);
                state.asleep_until = None;
                continue;
            };
            let fired = Fired {
                due: timer.due,
                claimed_nanos: Some(clock::now_nanos()),
            };
            drop(state);
            self.contained.run(|| (timer.then)(fired));
            state = self.state.lock();
        }
    }
}

impl Timers for Heap {
    type Handle = Handle;

    fn start() -> Self {
        Heap::new()
    }
    fn schedule(&self, deadline: Deadline, then: impl FnOnce(Fired) + Send + 'static) -> Handle {
        self.shared.schedule(deadline, Box::new(then))
    }
}

impl Cancel for Heap {
    fn cancel(&self, handle: &Handle) -> bool {
        self.shared.cancel(handle)
    }
}

impl Reset for Heap {
    fn reset(&self, handle: &Handle, deadline: Deadline) -> bool {
        self.shared.reset(handle, deadline)
    }
}

impl Sleep for Heap {
    fn start() -> Self {
        Heap::new()
    }
    fn sleep_until(&self, deadline: Deadline) -> impl Future<Output = ()> + Send + 'static {
        SleepFuture::new(Arc::clone(&self.shared), deadline)
    }
}

impl BlockingSleep for Heap {
    fn start() -> Self {
        Heap::new()
    }
    fn sleep_until(&self, deadline: Deadline) {
        block_on(SleepFuture::new(Arc::clone(&self.shared), deadline));
    }
}

/// A fresh channel for each timeout: nothing is shared, so nobody's close is another's.
impl<C: Channels> Timeouts<C> for Heap {
    fn start() -> Self {
        Heap::new()
    }
    fn timeout<T: Message>(&self, delay: Duration) -> C::Rx<T> {
        let (closing, rx) = closing::open::<C, T>();
        let then = Box::new(move |_| drop(closing));
        self.shared.schedule(clock::after(delay), then);
        rx
    }
}
