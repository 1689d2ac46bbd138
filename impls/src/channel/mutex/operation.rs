//! A waiting request: one put, one take, or a whole alts, committed at most once. It knows no message type. The value
//! of a waiting put is in its channel, and a value that was taken is in the taker's `hand`.
//!
//! core.async gives the handlers of an alts one shared flag with a lock of its own. Where two alts meet, it locks both
//! flags in the order of their ids. Here every waiting request has such a flag. So a plain put is an alts with one
//! clause, and there is only one protocol:
//!
//! * A request is *waiting* until a thread commits one of its clauses, or it is withdrawn.
//! * The committing thread holds the lock of the clause's channel, and the flags of all requests that the commit
//!   concerns: both when a put meets a take (A3).
//! * No effect comes before the flag is won (A2).

use std::task::Waker;

pub(super) use crate::channel::notify::Notify;
use crate::sync::{Arc, Mutex, MutexGuard, order_key};

enum Outcome {
    Waiting,
    /// Another thread has committed a clause.
    Committed(Committed),
    /// Withdrawn, or committed by its own thread.
    Over,
}

/// The clause that another thread has committed.
#[derive(Clone, Copy)]
pub(super) struct Committed {
    pub(super) clause: usize,
    /// The clause is a put that was waiting when the last consumer was dropped (C14). Its own thread gets the value
    /// back from the channel.
    pub(super) refused: bool,
}

struct State {
    outcome: Outcome,
    notify: Notify,
}

impl State {
    fn is_waiting(&self) -> bool {
        matches!(self.outcome, Outcome::Waiting)
    }

    fn committed(&self) -> Option<Committed> {
        match self.outcome {
            Outcome::Committed(committed) => Some(committed),
            Outcome::Waiting | Outcome::Over => None,
        }
    }
}

/// A waiting request.
pub struct Operation {
    /// Where two alts meet, their flags are locked in the order of their keys. All other requests have key 0, because
    /// they never hold one flag while they lock another.
    key: u64,
    state: Mutex<State>,
}

/// The result of an attempt to commit two requests together.
pub(super) enum Claim {
    /// Both are committed.
    Won,
    /// The other request is over; this one still waits.
    OtherOver,
    /// This request is over.
    SelfOver,
}

impl Operation {
    /// A put or a take.
    pub(super) fn new(notify: Notify) -> Arc<Self> {
        Operation::keyed(0, notify)
    }

    /// An alts.
    pub(super) fn alts(notify: Notify) -> Arc<Self> {
        Operation::keyed(order_key(), notify)
    }

    fn keyed(key: u64, notify: Notify) -> Arc<Self> {
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

    /// Sets what is notified of the commit. Only for a request that no other thread can have met yet, because its
    /// channel is locked.
    pub(super) fn tell(&self, notify: Notify) {
        self.state.lock().notify = notify;
    }

    /// Ends this request for its own thread, which goes on to commit a clause or gives up. `false` when another thread
    /// has committed it before.
    pub(super) fn end(&self) -> bool {
        let mut state = self.state.lock();
        let waiting = state.is_waiting();
        if waiting {
            state.outcome = Outcome::Over;
        }
        waiting
    }

    /// Commits `other` at its `clause`, together with `me`, an alts of the calling thread; or commits neither. `hand`
    /// gives the value, if there is one, before any other thread can see the commit.
    pub(super) fn claim(
        me: Option<&Operation>,
        other: &Operation,
        clause: usize,
        hand: impl FnOnce(),
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
        hand();
        theirs.outcome = Outcome::Committed(Committed {
            clause,
            refused: false,
        });
        if let Some(mut mine) = mine {
            mine.outcome = Outcome::Over;
        }
        Claim::Won
    }

    /// Commits this request at its `clause`, a put, as refused. `give_back` returns the value, where the request cannot
    /// fetch it, before any other thread can see the commit. `false` when the request is over.
    pub(super) fn refuse(&self, clause: usize, give_back: impl FnOnce()) -> bool {
        let mut state = self.state.lock();
        let waiting = state.is_waiting();
        if waiting {
            give_back();
            state.outcome = Outcome::Committed(Committed {
                clause,
                refused: true,
            });
        }
        waiting
    }

    fn lock_both<'a>(
        me: &'a Operation,
        other: &'a Operation,
    ) -> (MutexGuard<'a, State>, MutexGuard<'a, State>) {
        debug_assert!(!me.is(other), "an alts never pairs with itself (A4)");
        if me.key < other.key {
            let mine = me.state.lock();
            (mine, other.state.lock())
        } else {
            let theirs = other.state.lock();
            (me.state.lock(), theirs)
        }
    }

    /// The clause that another thread has committed, if one has.
    pub(super) fn committed(&self) -> Option<Committed> {
        self.state.lock().committed()
    }

    /// [`Operation::committed`]. If there is none yet, `waker` is woken once there is.
    pub(super) fn committed_or_wake(&self, waker: &Waker) -> Option<Committed> {
        let state = self.state.lock();
        let committed = state.committed();
        let knows = matches!(&state.notify, Notify::Task(known) if known.will_wake(waker));
        drop(state);
        if committed.is_some() || knows {
            return committed;
        }
        // Outside the lock, because cloning and dropping a waker run code of the executor.
        let renewed = Notify::Task(waker.clone());
        let mut state = self.state.lock();
        let committed = state.committed();
        let former = std::mem::replace(&mut state.notify, renewed);
        drop(state);
        drop(former);
        committed
    }

    /// Notifies the waiting thread, task or callback that its request is committed. Call it outside every lock.
    pub(super) fn notify(&self) {
        let mut state = self.state.lock();
        let notify = std::mem::replace(&mut state.notify, Notify::Nothing);
        drop(state);
        notify.tell();
    }
}
