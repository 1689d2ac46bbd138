//! A request that waits: one put, one take, or a whole alts, committed at most once.
//!
//! core.async gives the handlers of an alts one shared flag with a lock of its own, and locks two flags
//! in the order of their ids where two alts meet. Here every waiting request has that flag, so that a
//! plain put is an alts with one clause and there is one protocol:
//!
//! * a request is *waiting* until somebody commits one of its clauses, or it is withdrawn;
//! * whoever commits holds the lock of the clause's channel, and the flags of all the requests that
//!   the commit concerns, both of them when a put meets a take (A3);
//! * no effect comes before the flag is won (A2).

use std::task::Waker;

use crate::sync::{Arc, Mutex, MutexGuard, Unparker, contain, order_key};

use super::trampoline;

/// What a request was answered.
pub(super) enum Answer<T> {
    /// The put at that clause; `false` when its channel was closed.
    Put { clause: usize, accepted: bool },
    /// The take at that clause; no value when its channel was closed and empty. `place` is the value's
    /// among all that were handed to takes that wait, in the order of their puts: where it belongs when
    /// it is given back.
    Took {
        clause: usize,
        value: Option<T>,
        place: u64,
    },
}

/// Who hears of the commit.
pub(super) enum Notify<T> {
    /// A thread that waits.
    Thread(Unparker),
    /// A future that is pending.
    Task(Waker),
    /// A callback.
    Call(Box<dyn FnOnce(Answer<T>) + Send>),
    /// Nobody any more.
    Nobody,
}

enum Outcome<T> {
    Waiting,
    Committed(Answer<T>),
    /// Withdrawn, committed by its own thread, or its answer is fetched.
    Over,
}

struct State<T> {
    outcome: Outcome<T>,
    notify: Notify<T>,
}

impl<T> State<T> {
    fn is_waiting(&self) -> bool {
        matches!(self.outcome, Outcome::Waiting)
    }
}

/// A request that waits.
pub(super) struct Operation<T> {
    /// Where two alts meet, their flags are locked in the order of their keys; all other requests have
    /// key 0, for they never hold one flag and ask for another.
    key: u64,
    state: Mutex<State<T>>,
}

/// How an attempt to commit two requests together ended.
pub(super) enum Claim {
    /// Both are committed.
    Won,
    /// The other one is over; this one still waits.
    OtherOver,
    /// This one is over.
    SelfOver,
}

impl<T: 'static> Operation<T> {
    /// A put or a take.
    pub(super) fn new(notify: Notify<T>) -> Arc<Self> {
        Operation::keyed(0, notify)
    }

    /// An alts.
    pub(super) fn alts(notify: Notify<T>) -> Arc<Self> {
        Operation::keyed(order_key(), notify)
    }

    fn keyed(key: u64, notify: Notify<T>) -> Arc<Self> {
        let state = Mutex::new(State {
            outcome: Outcome::Waiting,
            notify,
        });
        Arc::new(Operation { key, state })
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.state.lock().is_waiting()
    }

    /// Says who hears of the commit, for a request that nobody can have met yet: its channel is locked.
    pub(super) fn tell(&self, notify: Notify<T>) {
        self.state.lock().notify = notify;
    }

    /// Ends this request for its own thread, which goes on to commit a clause or gives up. `false` when
    /// another thread has committed it before.
    pub(super) fn end(&self) -> bool {
        let mut state = self.state.lock();
        let waiting = state.is_waiting();
        if waiting {
            state.outcome = Outcome::Over;
        }
        waiting
    }

    /// Commits `other` with `answer`, and with it `me`, an alts whose own thread this is; or neither.
    pub(super) fn claim(
        me: Option<&Operation<T>>,
        other: &Operation<T>,
        answer: impl FnOnce() -> Answer<T>,
    ) -> Claim {
        let (mine, mut theirs) = match me {
            None => (None, other.state.lock()),
            Some(me) => {
                let (mine, theirs) = Operation::lock_both(me, other);
                (Some(mine), theirs)
            }
        };
        if mine.as_ref().is_some_and(|mine| !mine.is_waiting()) {
            return Claim::SelfOver;
        }
        if !theirs.is_waiting() {
            return Claim::OtherOver;
        }
        theirs.outcome = Outcome::Committed(answer());
        if let Some(mut mine) = mine {
            mine.outcome = Outcome::Over;
        }
        Claim::Won
    }

    fn lock_both<'a>(
        me: &'a Operation<T>,
        other: &'a Operation<T>,
    ) -> (MutexGuard<'a, State<T>>, MutexGuard<'a, State<T>>) {
        debug_assert!(!me.is(other), "an alts never pairs with itself (A4)");
        if me.key < other.key {
            let mine = me.state.lock();
            (mine, other.state.lock())
        } else {
            let theirs = other.state.lock();
            (me.state.lock(), theirs)
        }
    }

    /// The answer, once there is one; it is given only once.
    pub(super) fn answer(&self) -> Option<Answer<T>> {
        Self::fetch(&mut self.state.lock())
    }

    fn fetch(state: &mut State<T>) -> Option<Answer<T>> {
        if !matches!(state.outcome, Outcome::Committed(_)) {
            return None;
        }
        match std::mem::replace(&mut state.outcome, Outcome::Over) {
            Outcome::Committed(answer) => Some(answer),
            Outcome::Waiting | Outcome::Over => None,
        }
    }

    /// The answer, or `waker` is woken once there is one.
    pub(super) fn answer_or_wake(&self, waker: &Waker) -> Option<Answer<T>> {
        let mut state = self.state.lock();
        let answer = Self::fetch(&mut state);
        let knows = matches!(&state.notify, Notify::Task(known) if known.will_wake(waker));
        drop(state);
        if answer.is_some() || knows {
            return answer;
        }
        // Outside the lock: cloning and dropping a waker run code of the executor.
        let renewed = Notify::Task(waker.clone());
        let mut state = self.state.lock();
        let answer = Self::fetch(&mut state);
        let former = std::mem::replace(&mut state.notify, renewed);
        drop(state);
        drop(former);
        answer
    }

    /// Tells the one who waits that its request is committed. Call it outside every lock.
    pub(super) fn notify(&self) {
        let mut state = self.state.lock();
        let notify = std::mem::replace(&mut state.notify, Notify::Nobody);
        match notify {
            Notify::Thread(unparker) => {
                drop(state);
                unparker.unpark();
            }
            Notify::Task(waker) => {
                drop(state);
                contain(|| waker.wake());
            }
            Notify::Call(call) => {
                let answer = Self::fetch(&mut state);
                drop(state);
                if let Some(answer) = answer {
                    trampoline::run(Box::new(move || call(answer)));
                }
            }
            Notify::Nobody => {}
        }
    }
}
