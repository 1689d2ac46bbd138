//! One who waits, its answer, and who hears of it.

use std::task::Waker;

use flowmeter_harness::sync::Deadline;

pub(super) use crate::channel::notify::Notify;
use crate::channel::trampoline;
use crate::spin::Spin;
use crate::sync::{Arc, Mutex, Parker, clock};

enum Outcome<A> {
    Waiting,
    Answered(A),
    Fetched,
}

struct State<A> {
    outcome: Outcome<A>,
    notify: Notify,
}

/// One who waits: a put for whether it was accepted, a take for its value, an alts for the clause that won.
///
/// It is answered once, by a thread that holds the lock of a channel in which it stands in line. So one who holds the
/// locks of all of them knows whether there will ever be an answer.
pub struct Waiter<A>(Mutex<State<A>>);

impl<A> Waiter<A> {
    pub(super) fn new(notify: Notify) -> Arc<Self> {
        Arc::new(Waiter(Mutex::new(State {
            outcome: Outcome::Waiting,
            notify,
        })))
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.0.lock().outcome, Outcome::Waiting)
    }

    /// Answers, and says who has to hear of it; `None` when it was answered before, and nothing happens.
    #[must_use]
    pub(super) fn answer(&self, answer: A) -> Option<Notify> {
        let mut state = self.0.lock();
        if !matches!(state.outcome, Outcome::Waiting) {
            return None;
        }
        state.outcome = Outcome::Answered(answer);
        Some(std::mem::replace(&mut state.notify, Notify::Nobody))
    }

    /// The answer, once there is one; it is given only once.
    pub(super) fn fetch(&self) -> Option<A> {
        Self::fetch_from(&mut self.0.lock())
    }

    fn fetch_from(state: &mut State<A>) -> Option<A> {
        if let Outcome::Waiting = state.outcome {
            return None;
        }
        match std::mem::replace(&mut state.outcome, Outcome::Fetched) {
            Outcome::Answered(answer) => Some(answer),
            Outcome::Waiting | Outcome::Fetched => None,
        }
    }

    /// The answer, or `waker` is woken once there is one.
    pub(super) fn fetch_or_wake(&self, waker: &Waker) -> Option<A> {
        let mut state = self.0.lock();
        let answer = Self::fetch_from(&mut state);
        let knows = matches!(&state.notify, Notify::Task(known) if known.will_wake(waker));
        drop(state);
        if answer.is_some() || knows {
            return answer;
        }
        self.fetch_or_wake_first(waker)
    }

    /// The same for who has not polled yet, and so has most likely neither an answer nor told a waker.
    pub(super) fn fetch_or_wake_first(&self, waker: &Waker) -> Option<A> {
        // Outside the lock: cloning and dropping a waker run code of the executor.
        let renewed = Notify::Task(waker.clone());
        let mut state = self.0.lock();
        let answer = Self::fetch_from(&mut state);
        let unused = if answer.is_none() {
            std::mem::replace(&mut state.notify, renewed)
        } else {
            // Who answered may be the last to let go of this, under a channel's lock: no waker is left to be dropped there.
            renewed
        };
        drop(state);
        drop(unused);
        answer
    }

    /// Parks until there is an answer, or the deadline has passed. `parker` is that of the thread it notifies.
    ///
    /// To wake a thread costs its waker more than anything else that a channel does; one that still looks for itself need
    /// not be woken. Who has a deadline looks for less long: a core that it left might come back long after.
    pub(super) fn wait(&self, parker: &Parker, deadline: Deadline) -> Option<A> {
        let mut spin = Spin::new();
        loop {
            let answer = self.fetch();
            if answer.is_some() || clock::has_passed(deadline) {
                return answer;
            }
            let looks_again = if deadline == Deadline::NEVER {
                spin.again_before_sleep()
            } else {
                spin.again()
            };
            if looks_again {
                continue;
            }
            trampoline::before_waiting();
            // Whoever answers between the two leaves the parker its token.
            parker.park_until(deadline);
        }
    }
}
