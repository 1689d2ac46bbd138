//! A waiting request, its answer, and what is notified of the answer.

use std::task::Waker;

use flowmeter_harness::sync::Deadline;

pub(super) use crate::channel::notify::Notify;
use crate::channel::trampoline;
use crate::spin::Spin;
use crate::sync::{Arc, Mutex, Parker, clock, contain};

enum Outcome<A> {
    Waiting,
    Answered(A),
    Fetched,
}

struct State<A> {
    outcome: Outcome<A>,
    notify: Notify,
}

/// A waiting reservation or alts. The answer to a reservation is whether room is held, and the answer to an alts is the
/// clause that won. A single put or take waits in a [`Seat`](super::seat::Seat).
///
/// It is answered once, by a thread that holds the lock of a channel in which it stands in line. So a thread that holds
/// the locks of all of them knows whether an answer will ever come.
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

    /// Answers, and returns what has to be notified. `None` when it was answered before; then nothing happens.
    #[must_use]
    pub(super) fn answer(&self, answer: A) -> Option<Notify> {
        let mut state = self.0.lock();
        if !matches!(state.outcome, Outcome::Waiting) {
            return None;
        }
        state.outcome = Outcome::Answered(answer);
        Some(std::mem::replace(&mut state.notify, Notify::Nothing))
    }

    /// The answer, once there is one. It is returned only once.
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

    /// The answer. If there is none yet, `waker` is woken once there is.
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

    /// The same for the first poll, when there is most likely no answer yet, and no waker.
    pub(super) fn fetch_or_wake_first(&self, waker: &Waker) -> Option<A> {
        // Outside the lock, because cloning and dropping a waker run code of the executor.
        let renewed = Notify::Task(waker.clone());
        let mut state = self.0.lock();
        let answer = Self::fetch_from(&mut state);
        let unused = if answer.is_none() {
            std::mem::replace(&mut state.notify, renewed)
        } else {
            // The answering thread may drop the last reference to this waiter under a channel's lock. Leave no waker in
            // it that would be dropped there.
            renewed
        };
        drop(state);
        // If that panics, the answer is not lost.
        contain(|| drop(unused));
        answer
    }
}

/// Parks until there is an answer to `fetch`, or the deadline has passed. `parker` must be that of the thread that is
/// notified.
///
/// Waking a thread costs more than anything else that a channel does, so the thread spins for a while before it parks.
/// With a deadline it spins for less long, because it would get a yielded core back too late.
pub(super) fn wait_for<A>(
    mut fetch: impl FnMut() -> Option<A>,
    parker: &Parker,
    deadline: Deadline,
) -> Option<A> {
    let mut spin = Spin::new();
    loop {
        let answer = fetch();
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
        // If the answer comes between the look and the park, the unpark has left a token, and the park returns at once.
        parker.park_until(deadline);
    }
}
