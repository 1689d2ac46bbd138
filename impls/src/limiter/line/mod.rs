//! A queue in front of a supply of permits: for threads ([`Line`]), and for tasks that sleep on a timer
//! ([`AsyncLine`]).
//!
//! No caller returns permits: they are back when the clock says so ([`Supply`]), and a waiter sleeps until then. A
//! limiter for threads needs neither a timer nor a thread of its own.
//!
//! Waiters stand in a queue. A waiter that looks, and in a fair line also an attempt, first grants permits to the front
//! of the queue while the supply lasts, and wakes the waiters that it serves. So a grant depends on no particular
//! thread, and on no poll of a particular future. Each waiter sleeps until the earliest moment at which its turn can
//! have come, and looks then. That moment can be too late once another waiter has left the queue. So a waiter that
//! becomes the first and would oversleep is woken to look again. At its deadline a waiter looks once more, and is
//! granted what was free in time.
//!
//! A waiter that gives up leaves the queue and grants to those behind it. If it was granted permits that it has not
//! seen (a future that is dropped before its next poll), that acquisition is undone. A future that is granted permits,
//! and is neither polled nor dropped, keeps them and blocks no other waiter.
//!
//! A refused attempt stores the moment of the next permit. Until then that moment alone refuses further attempts,
//! without the lock.
//!
//! Fair: a caller that finds waiters queues behind them, and a single attempt (`try_acquire`, a deadline that has
//! passed) fails. Unfair: a caller takes what is free, and a waiter may find nothing when it wakes; one that asks for
//! many permits may then wait for ever.

mod awaited;
mod queue;

use std::fmt;
use std::num::NonZeroU32;

use flowmeter_harness::limiter::{
    Attempt, BlockingLimit, LimitDeadline, LimitError, Limiters, Quota, WeightedLimit,
};
use flowmeter_harness::sync::Deadline;

use crate::channel::trampoline;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, Parker, clock, contain};

pub use awaited::AsyncLine;
use queue::{Queue, Ticket, Wake};

/// Permits that come back with time. A [`Line`] holds a lock around its supply, reads one of two clocks under it, and never
/// passes a moment before the last.
pub trait Supply: fmt::Debug + Send + Sized + 'static {
    /// What undoes an acquisition.
    type Receipt: Copy + fmt::Debug + Send;

    /// A supply with all its permits free.
    ///
    /// # Errors
    /// [`LimitError::ImpossibleRate`].
    fn of(quota: Quota) -> Result<Self, LimitError>;

    /// Adds the permits that are back at `now`.
    fn collect(&mut self, now: u64);

    /// Takes permits at `now`, if as many are free. The supply has collected up to `now`.
    fn take(&mut self, weight: NonZeroU32, now: u64) -> Option<Self::Receipt>;

    /// Undoes an acquisition that its waiter has not seen, as far as that grants no permit that did not exist.
    fn undo(&mut self, weight: NonZeroU32, receipt: Self::Receipt);

    /// The earliest moment at which so many more permits can have been acquired.
    fn earliest(&self, permits: u64, now: u64) -> Deadline;

    /// The clock of an attempt under the lock. By default the system's, for supplies that promise single nanoseconds.
    #[inline]
    fn now() -> u64 {
        clock::now_nanos()
    }
}

/// Permits of a supply, for threads.
#[derive(Debug)]
pub struct Line<S: Supply, const FAIR: bool> {
    burst: NonZeroU32,
    /// No single permit is free before that moment; 0 if it is not known. Written with the lock held.
    empty_until: AtomicU64,
    state: Mutex<State<S>>,
}

#[derive(Debug)]
struct State<S: Supply> {
    supply: S,
    queue: Queue<S::Receipt>,
    /// The last moment that the supply was given: [`Supply::now`] may read another clock than the waiters.
    latest: u64,
}

/// A place in the queue, given up when it is dropped.
struct Place<'a, S: Supply, const FAIR: bool> {
    line: &'a Line<S, FAIR>,
    ticket: Ticket,
    deadline: Deadline,
    /// Granted, and removed from the queue.
    served: bool,
}

/// The outcome of a waiter's look.
enum Turn {
    Granted,
    /// Its deadline has passed, and it could not have been granted permits by then.
    TimedOut,
    /// It looks again at that moment, or when it is woken.
    Later(Deadline),
}

impl<S: Supply> State<S> {
    /// That moment, or the last one if that was later.
    fn not_before_the_last(&mut self, now: u64) -> u64 {
        self.latest = self.latest.max(now);
        self.latest
    }

    /// Grants permits to the front of the queue while the supply lasts; returns the waiters to wake, without the lock.
    #[inline]
    fn grant(&mut self, now: u64) -> Vec<Wake> {
        self.supply.collect(now);
        let mut to_wake = Vec::new();
        while let Some(first) = self.queue.first() {
            let Some(receipt) = self.supply.take(first.weight, now) else {
                let due = self.supply.earliest(first.weight.get().into(), now);
                let oversleeps = first.sleeping.take_if(|(until, _)| *until > due);
                to_wake.extend(oversleeps.map(|(_, wake)| wake));
                break;
            };
            to_wake.extend(self.queue.grant_first(receipt));
        }
        to_wake
    }
}

impl<S: Supply, const FAIR: bool> Line<S, FAIR> {
    /// Takes permits without waiting; else returns when enough are back, or nothing where waiters come first.
    #[inline]
    fn take_at_once(&self, weight: NonZeroU32) -> Result<(), Option<Deadline>> {
        let mut state = self.state.lock();
        let now = state.not_before_the_last(S::now());
        let mut to_wake = Vec::new();
        if FAIR && state.queue.first().is_some() {
            to_wake = state.grant(now);
        } else {
            state.supply.collect(now);
        }
        let answer = if FAIR && state.queue.first().is_some() {
            Err(None)
        } else if state.supply.take(weight, now).is_some() {
            self.empty_until.store(0, Ordering::Relaxed);
            Ok(())
        } else {
            let back = state.supply.earliest(weight.get().into(), now);
            if weight == ONE {
                self.empty_until.store(back.as_nanos(), Ordering::Relaxed);
            }
            Err(Some(back))
        };
        drop(state);
        to_wake.into_iter().for_each(Wake::wake);
        answer
    }

    fn enter(&self, weight: NonZeroU32, deadline: Deadline) -> Place<'_, S, FAIR> {
        Place {
            line: self,
            ticket: self.state.lock().queue.enter(weight),
            deadline,
            served: false,
        }
    }

    /// Whether it was granted permits by the deadline.
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
                Turn::Later(until) => {
                    trampoline::before_waiting();
                    parker.park_until(until);
                }
            }
        }
    }

    /// Refuses an acquisition that could never be granted.
    fn check_weight(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        if weight > self.burst {
            return Err(LimitError::AboveBurst);
        }
        Ok(())
    }
}

impl<S: Supply, const FAIR: bool> Place<'_, S, FAIR> {
    /// Looks, and leaves `wake` in its place if it has to wait.
    fn turn(&mut self, wake: Wake) -> Turn {
        let mut state = self.line.state.lock();
        // It is awake and needs no wake-up. Dropped below, without the lock.
        let awake = state.queue.waiter(self.ticket).sleeping.take();
        let now = state.not_before_the_last(clock::now_nanos());
        let to_wake = state.grant(now);
        let turn = if state.queue.waiter(self.ticket).granted.is_some() {
            state.queue.leave(self.ticket);
            self.served = true;
            Turn::Granted
        } else if self.deadline.as_nanos() <= now {
            Turn::TimedOut
        } else {
            let distance = state.queue.distance(self.ticket);
            let until = state.supply.earliest(distance, now).min(self.deadline);
            state.queue.waiter(self.ticket).sleeping = Some((until, wake));
            Turn::Later(until)
        };
        drop(state);
        to_wake.into_iter().for_each(Wake::wake);
        contain(|| drop(awake));
        turn
    }
}

impl<S: Supply, const FAIR: bool> Drop for Place<'_, S, FAIR> {
    fn drop(&mut self) {
        if self.served {
            return;
        }
        let mut state = self.line.state.lock();
        let gone = state.queue.leave(self.ticket);
        if let Some(receipt) = gone.granted {
            state.supply.undo(gone.weight, receipt);
            self.line.empty_until.store(0, Ordering::Relaxed);
        }
        let now = state.not_before_the_last(clock::now_nanos());
        let to_wake = state.grant(now);
        drop(state);
        to_wake.into_iter().for_each(Wake::wake);
        contain(|| drop(gone));
    }
}

const ONE: NonZeroU32 = NonZeroU32::MIN;

/// More than the brisk clock lags, in nanoseconds. So what it refuses with that much to go is refused by the system's clock
/// too.
const LAG: u64 = 200;

impl<S: Supply, const FAIR: bool> Limiters for Line<S, FAIR> {
    fn with_quota(quota: Quota) -> Result<Self, LimitError> {
        let supply = S::of(quota)?;
        Ok(Line {
            burst: quota.burst,
            empty_until: AtomicU64::new(0),
            state: Mutex::new(State {
                supply,
                queue: Queue::new(),
                // The supply was made now, and the first attempt may read a clock that lags.
                latest: clock::now_nanos(),
            }),
        })
    }

    #[inline]
    fn try_acquire(&self) -> Attempt {
        // Relaxed: a thread that knows of an undone acquisition reads what was written then.
        let empty_until = self.empty_until.load(Ordering::Relaxed);
        if empty_until > 0 && clock::brisk_nanos() + LAG <= empty_until {
            return Attempt::NotBefore(Some(Deadline::from_nanos(empty_until)));
        }
        match self.take_at_once(ONE) {
            Ok(()) => Attempt::Granted,
            Err(back) => Attempt::NotBefore(back),
        }
    }
}

impl<S: Supply, const FAIR: bool> BlockingLimit for Line<S, FAIR> {
    fn acquire(&self) {
        self.wait(ONE, Deadline::NEVER);
    }
}

impl<S: Supply, const FAIR: bool> LimitDeadline for Line<S, FAIR> {
    fn acquire_until(&self, deadline: Deadline) -> bool {
        self.wait(ONE, deadline)
    }
}

impl<S: Supply, const FAIR: bool> WeightedLimit for Line<S, FAIR> {
    fn acquire_weight(&self, weight: NonZeroU32) -> Result<(), LimitError> {
        self.check_weight(weight)?;
        self.wait(weight, Deadline::NEVER);
        Ok(())
    }
}
