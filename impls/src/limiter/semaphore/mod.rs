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
//! Those who wait stand in a queue. Whoever looks at the limiter grants to the first of them as long as their
//! permits are here, and wakes these: nobody depends on another's thread or poll. Each sleeps until the moment at
//! which its turn can have come, and looks then. Where somebody has left the queue that may be late for those
//! behind; so whoever becomes the first, and sleeps for too long, is woken to look again. At its deadline
//! one who waits first looks, and is granted what was free in time.
//!
//! Who gives up leaves the queue and looks once more, for those behind it. Where it was granted without having
//! heard of it (a future that is dropped before its next poll), that acquisition is undone. A future that is
//! granted and neither polled nor dropped holds its permits for one period, as everybody does.
//!
//! Fair: who finds somebody waiting waits behind, and one attempt (`try_acquire`, a deadline that has
//! passed) fails. Unfair: who comes takes what is free, and those in the queue may find nothing when they
//! wake; a heavy one may then wait for ever.

mod awaited;
mod queue;
mod window;

use std::num::NonZeroU32;

use flowmeter_harness::limiter::{
    Attempt, BlockingLimit, LimitDeadline, LimitError, Limiters, Quota, WeightedLimit,
};
use flowmeter_harness::sync::Deadline;

use crate::sync::{Mutex, Parker, clock};

use queue::{Queue, Ticket, Wake};
use window::Window;

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
    deadline: Deadline,
    /// Granted, and gone from the queue.
    served: bool,
}

/// What becomes of one who waits.
enum Turn {
    Granted,
    /// Its deadline has passed, and at that moment it could not have been granted.
    TimedOut,
    /// To be looked at again at that moment, or when it is woken.
    Later(Deadline),
}

impl State {
    /// Grants to the first of those who wait, as long as there are permits; whom to wake, without the lock.
    fn grant(&mut self, now: u64) -> Vec<Wake> {
        self.window.collect(now);
        let mut to_wake = Vec::new();
        while let Some(first) = self.queue.first() {
            let Some(back) = self.window.take(first.weight, now) else {
                let due = self.window.earliest(first.weight.get().into(), now);
                let oversleeps = first.sleeping.take_if(|(until, _)| *until > due);
                to_wake.extend(oversleeps.map(|(_, wake)| wake));
                break;
            };
            to_wake.extend(self.queue.grant_first(back));
        }
        to_wake
    }
}

impl<const FAIR: bool> Semaphore<FAIR> {
    /// Takes permits without waiting; else says when enough are back, unless somebody waits for them.
    fn take_at_once(&self, weight: NonZeroU32) -> Result<(), Option<Deadline>> {
        let mut state = self.state.lock();
        let now = clock::now_nanos();
        let mut to_wake = Vec::new();
        if FAIR {
            to_wake = state.grant(now);
        } else {
            state.window.collect(now);
        }
        let answer = if FAIR && state.queue.first().is_some() {
            Err(None)
        } else if state.window.take(weight, now).is_some() {
            Ok(())
        } else {
            Err(Some(state.window.earliest(weight.get().into(), now)))
        };
        drop(state);
        to_wake.into_iter().for_each(Wake::wake);
        answer
    }

    fn enter(&self, weight: NonZeroU32, deadline: Deadline) -> Place<'_, FAIR> {
        Place {
            semaphore: self,
            ticket: self.state.lock().queue.enter(weight),
            deadline,
            served: false,
        }
    }

    /// Whether it was granted until the deadline.
    fn wait(&self, weight: NonZeroU32, deadline: Deadline) -> bool {
        if self.take_at_once(weight).is_ok() {
            return true;
        }
        let parker = Parker::new();
        let mut place = self.enter(weight, deadline);
        loop {
            match place.turn(Wake::Thread(parker.unparker())) {
                Turn::Granted => return true,
                Turn::TimedOut => return false,
                Turn::Later(until) => parker.park_until(until),
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
    /// Looks, and has itself woken by `wake` where it has to wait.
    fn turn(&mut self, wake: Wake) -> Turn {
        let mut state = self.semaphore.state.lock();
        // It is awake: nobody needs to wake it. Dropped below, without the lock.
        let awake = state.queue.waiter(self.ticket).sleeping.take();
        let now = clock::now_nanos();
        let to_wake = state.grant(now);
        let turn = if state.queue.waiter(self.ticket).granted.is_some() {
            state.queue.leave(self.ticket);
            self.served = true;
            Turn::Granted
        } else if self.deadline.as_nanos() <= now {
            Turn::TimedOut
        } else {
            let distance = state.queue.distance(self.ticket);
            let until = state.window.earliest(distance, now).min(self.deadline);
            state.queue.waiter(self.ticket).sleeping = Some((until, wake));
            Turn::Later(until)
        };
        drop(state);
        drop(awake);
        to_wake.into_iter().for_each(Wake::wake);
        turn
    }
}

impl<const FAIR: bool> Drop for Place<'_, FAIR> {
    fn drop(&mut self) {
        if self.served {
            return;
        }
        let mut state = self.semaphore.state.lock();
        let gone = state.queue.leave(self.ticket);
        if let Some(back) = gone.granted {
            state.window.undo(gone.weight, back);
        }
        let to_wake = state.grant(clock::now_nanos());
        drop(state);
        drop(gone);
        to_wake.into_iter().for_each(Wake::wake);
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
