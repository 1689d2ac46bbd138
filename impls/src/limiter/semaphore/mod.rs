//! A semaphore of n permits, each of which is back one period after its acquisition: a window that slides,
//! after Anders Murphy, "Clojure: managing throughput with virtual threads".
//!
//! There each permit has a thread of its own that sleeps and then returns it. Here nobody returns
//! anything: a permit is back when the clock says so, and whoever waits sleeps until that moment. Without
//! tasks there is no timer and no thread ([`Semaphore`]); futures sleep on a timer ([`AsyncSemaphore`]).
//!
//! Invariant: an acquisition reads the clock under the lock, and takes permits that were free at that
//! reading; permits taken at t are free again at readings from t + period on. So no half-open period of
//! readings holds more than n. The caller sees its permit later than the reading: starts of the work are
//! as regular as the machine wakes threads, which nobody can promise.
//!
//! Those who wait stand in a queue, and the first of them alone sleeps for the return of permits, for as
//! many as it weighs. Whoever leaves the first place, served, timed out or dropped, wakes the next: there
//! is no herd, and nobody is stranded. A permit is never given to anybody but one who takes it, so one who
//! gives up has nothing to give back.
//!
//! Fair: who finds somebody waiting waits behind, and one attempt (`try_acquire`, a deadline that has
//! passed) fails. Unfair: who comes takes what is free, and the first of the queue may find nothing when it
//! wakes; a heavy one may then wait for ever.

mod awaited;
mod queue;
mod window;

use std::num::NonZeroU32;
use std::task::Waker;

use flowmeter_harness::limiter::{
    Attempt, BlockingLimit, LimitDeadline, LimitError, Limiters, Quota, WeightedLimit,
};
use flowmeter_harness::sync::Deadline;

use crate::sync::{Mutex, Parker, clock};

use queue::{Queue, Ticket, Wake};
use window::{NotYet, Window};

pub use awaited::AsyncSemaphore;

/// Whoever comes first is served first.
pub type FairSemaphore = Semaphore<true>;
/// Whoever comes takes what is free.
pub type UnfairSemaphore = Semaphore<false>;

/// n permits, each back one period after its acquisition, for threads.
#[derive(Debug)]
pub struct Semaphore<const FAIR: bool> {
    permits: NonZeroU32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    window: Window,
    queue: Queue,
}

/// A place in the queue, given up when it is dropped.
struct Place<'a, const FAIR: bool> {
    semaphore: &'a Semaphore<FAIR>,
    ticket: Ticket,
    weight: NonZeroU32,
    deadline: Deadline,
}

/// What becomes of one who waits.
enum Turn {
    Granted,
    /// Its deadline has passed, and at that moment it could not have been granted.
    TimedOut,
    /// To be looked at again at that moment, or when it is woken.
    Later {
        until: Deadline,
        is_first: bool,
    },
}

impl<const FAIR: bool> Semaphore<FAIR> {
    /// Takes permits without waiting; else says when enough are back, unless somebody waits for them.
    fn take_at_once(&self, weight: NonZeroU32) -> Result<(), Option<Deadline>> {
        let mut state = self.state.lock();
        if FAIR && !state.queue.is_empty() {
            return Err(None);
        }
        let taken = state.window.take(weight);
        taken.map_err(|not_yet| Some(not_yet.back))
    }

    fn enter(&self, weight: NonZeroU32, deadline: Deadline, wake: Option<Wake>) -> Place<'_, FAIR> {
        Place {
            semaphore: self,
            ticket: self.state.lock().queue.enter(wake),
            weight,
            deadline,
        }
    }

    /// Whether it was granted until the deadline.
    fn wait(&self, weight: NonZeroU32, deadline: Deadline) -> bool {
        if self.take_at_once(weight).is_ok() {
            return true;
        }
        let parker = Parker::new();
        let wake = Wake::Thread(parker.unparker());
        let place = self.enter(weight, deadline, Some(wake));
        loop {
            match place.turn() {
                Turn::Granted => return true,
                Turn::TimedOut => return false,
                Turn::Later { until, .. } => parker.park_until(until),
            }
        }
    }

    /// An acquisition that could never be granted is refused.
    fn check_weight(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        if weight > self.permits {
            return Err(LimitError::AboveBurst);
        }
        Ok(())
    }
}

impl<const FAIR: bool> Place<'_, FAIR> {
    fn turn(&self) -> Turn {
        let mut state = self.semaphore.state.lock();
        let is_first = state.queue.is_first(self.ticket);
        let not_yet = if is_first {
            match state.window.take(self.weight) {
                Ok(()) => return Turn::Granted,
                Err(not_yet) => not_yet,
            }
        } else {
            NotYet {
                now: clock::now_nanos(),
                back: Deadline::NEVER,
            }
        };
        if self.deadline.as_nanos() <= not_yet.now {
            return Turn::TimedOut;
        }
        Turn::Later {
            until: not_yet.back.min(self.deadline),
            is_first,
        }
    }

    /// Whether it has become the first since; if not, that waker will be told when it does.
    fn has_moved_up(&self, was_first: bool, waker: &Waker) -> bool {
        if was_first {
            return false;
        }
        // Cloned, and the old one dropped, outside the lock: both run code of the executor.
        let wake = Wake::Task(waker.clone());
        let mut state = self.semaphore.state.lock();
        if state.queue.is_first(self.ticket) {
            return true;
        }
        let old = state.queue.replace_wake(self.ticket, wake);
        drop(state);
        drop(old);
        false
    }
}

impl<const FAIR: bool> Drop for Place<'_, FAIR> {
    fn drop(&mut self) {
        let next = self.semaphore.state.lock().queue.leave(self.ticket);
        if let Some(next) = next {
            next.wake();
        }
    }
}

const ONE: NonZeroU32 = NonZeroU32::MIN;

impl<const FAIR: bool> Limiters for Semaphore<FAIR> {
    /// Refuses a burst that is not the number of permits: the window has no other.
    fn with_quota(quota: Quota) -> Result<Self, LimitError> {
        let window = Window::new(quota)?;
        Ok(Semaphore {
            permits: quota.permits,
            state: Mutex::new(State {
                window,
                queue: Queue::default(),
            }),
        })
    }

    fn try_acquire(&self) -> Attempt {
        match self.take_at_once(ONE) {
            Ok(()) => Attempt::Granted,
            Err(back) => Attempt::NotBefore(back),
        }
    }
}

impl<const FAIR: bool> BlockingLimit for Semaphore<FAIR> {
    fn acquire(&self) {
        self.wait(ONE, Deadline::NEVER);
    }
}

impl<const FAIR: bool> LimitDeadline for Semaphore<FAIR> {
    fn acquire_until(&self, deadline: Deadline) -> bool {
        self.wait(ONE, deadline)
    }
}

impl<const FAIR: bool> WeightedLimit for Semaphore<FAIR> {
    fn acquire_weight(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        self.check_weight(weight)?;
        self.wait(weight, Deadline::NEVER);
        Ok(())
    }
}
