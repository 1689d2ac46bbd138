//! The requests that wait on one side of a channel, first come first served.
//!
//! Invariant: every request in line is waiting, except an alts that was won in another channel. That alts leaves by
//! itself, and is passed over until then. Only an alts can be won elsewhere. Any other request is won by being taken
//! out of the line under the channel's lock, because no other thread competes for it.

use std::collections::VecDeque;
use std::iter;
use std::marker::PhantomData;

use crate::sync::{Arc, Mutex};

use super::MAX_WAITERS;
use super::seat::{Seat, Seated};
use super::waiter::{Notify, Waiter};
use crate::channel::trampoline::Call;

/// A waiting alts. Its answer is the index of the clause that won, whatever its channels carry.
pub(super) type Request = Waiter<usize>;

/// Where a clause of an alts is answered. The alts reads it under the lock of the clause's channel.
pub(super) type Slot<A> = Arc<Mutex<Option<A>>>;

/// A request in line, for an answer of type `A`.
pub(super) enum Party<A> {
    /// A thread or a task with a single put or take.
    Single(Seated<A>),
    /// A reservation.
    Reservation(Arc<Waiter<A>>),
    /// A callback. It makes the call from its answer, since only the code that waits knows that both outlive any borrow.
    Callback(Box<dyn FnOnce(A) -> Call + Send>),
    /// A clause of an alts.
    Clause {
        request: Arc<Request>,
        clause: usize,
        slot: Slot<A>,
    },
}

impl<A: Send> Party<A> {
    fn is_waiting(&self) -> bool {
        match self {
            Party::Single(_) | Party::Reservation(_) | Party::Callback(_) => true,
            Party::Clause { request, .. } => request.is_waiting(),
        }
    }

    /// Wins the request, so that no other channel serves it. `None` when another channel already has.
    fn win(&self) -> Option<Notify> {
        match self {
            Party::Single(_) | Party::Reservation(_) | Party::Callback(_) => Some(Notify::Nothing),
            Party::Clause {
                request, clause, ..
            } => request.answer(*clause),
        }
    }
}

/// A request that was won, has left the line, and still has to be answered.
#[must_use]
pub(super) struct Won<'l, A> {
    party: Party<A>,
    /// The lock of the channel is held while its line is borrowed.
    locked: PhantomData<&'l mut ()>,
    /// What is notified, where that was known when the request was won.
    notify: Notify,
}

impl<A: Send> Won<'_, A> {
    /// Answers, under the lock of the channel. Returns what has to be notified outside the lock.
    pub(super) fn answer(self, answer: A) -> Notify {
        match self.party {
            // SAFETY: it was taken out of the line, whose borrow says that the lock is held.
            Party::Single(seated) => unsafe { seated.answer(answer) },
            Party::Reservation(waiter) => waiter
                .answer(answer)
                .expect("a waiter in line is answered once, by the operation that removes it"),
            Party::Callback(call) => Notify::Call(call(answer)),
            Party::Clause { slot, .. } => {
                *slot.lock() = Some(answer);
                self.notify
            }
        }
    }
}

struct Place<A, V> {
    party: Party<A>,
    with: V,
}

/// A line. Each member brings a `V` and waits for an `A`.
pub(super) struct Line<A, V> {
    places: VecDeque<Place<A, V>>,
    /// The most requests that may wait.
    limit: usize,
}

impl<A: Send, V> Line<A, V> {
    pub(super) fn new() -> Self {
        Line {
            places: VecDeque::new(),
            limit: MAX_WAITERS,
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether the limit of waiting requests is reached (C7). An alts that was won elsewhere does not count.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.places.len() >= self.limit && self.is_full_of_waiting()
    }

    #[cold]
    fn is_full_of_waiting(&self) -> bool {
        let waiting = || self.places.iter().filter(|place| place.party.is_waiting());
        waiting().count() >= self.limit
    }

    /// From here on any number of requests may wait.
    pub(super) fn lift_limit(&mut self) {
        self.limit = usize::MAX;
    }

    /// Adds a request at the end.
    pub(super) fn join(&mut self, party: Party<A>, with: V) {
        self.places.push_back(Place { party, with });
    }

    /// Whether a request in line still waits.
    pub(super) fn has_waiting(&self) -> bool {
        self.places.iter().any(|place| place.party.is_waiting())
    }

    /// Answers the first request that still waits, and returns what has to be notified, and what the request brought.
    ///
    /// # Errors
    /// Gives the answer back when none waits.
    #[inline]
    pub(super) fn serve(&mut self, answer: A) -> Result<(Notify, V), A> {
        self.serve_single(answer)
            .or_else(|answer| match self.next() {
                Some((won, with)) => Ok((won.answer(answer), with)),
                None => Err(answer),
            })
    }

    /// Answers the first request if it is a put or a take, as most are. Such a one is won by being taken out.
    ///
    /// # Errors
    /// Gives the answer back otherwise.
    #[inline]
    pub(super) fn serve_single(&mut self, answer: A) -> Result<(Notify, V), A> {
        let front = self.places.front().map(|place| &place.party);
        if let Some(Party::Single(_)) = front {
            if let Some(Place {
                party: Party::Single(seated),
                with,
            }) = self.places.pop_front()
            {
                // SAFETY: it was just taken out of the line, which is borrowed under the lock.
                return Ok((unsafe { seated.answer(answer) }, with));
            }
        }
        Err(answer)
    }

    /// Wins the first request that still waits.
    pub(super) fn next(&mut self) -> Option<(Won<'_, A>, V)> {
        self.next_with(|_| true)
    }

    /// Wins the first request that still waits and has a `V` that satisfies `will_do`.
    pub(super) fn next_with(&mut self, will_do: impl Fn(&V) -> bool) -> Option<(Won<'_, A>, V)> {
        self.win(will_do)
    }

    /// The same. Each of them is answered while the line is borrowed.
    fn win<'l>(&mut self, will_do: impl Fn(&V) -> bool) -> Option<(Won<'l, A>, V)> {
        let mut index = 0;
        loop {
            let place = self.places.get(index)?;
            let won = will_do(&place.with).then(|| place.party.win());
            if let Some(notify) = won.flatten() {
                // Most often it is the first, which `remove` would take out like any other.
                let place = match index {
                    0 => self.places.pop_front(),
                    _ => self.places.remove(index),
                };
                let Place { party, with } = place?;
                let won = Won {
                    party,
                    locked: PhantomData,
                    notify,
                };
                return Some((won, with));
            }
            index += 1;
        }
    }

    /// Wins all requests before any of them is answered. So no request that ends here is seen to go on while an alts in
    /// the same line can still be won by another channel (A5). The alts themselves go on only under the lock of this
    /// channel.
    pub(super) fn win_all(&mut self) -> Vec<(Won<'_, A>, V)> {
        if self.is_empty() {
            return Vec::new();
        }
        iter::from_fn(|| self.win(|_| true)).collect()
    }

    /// Removes a single request, and returns what it brought. `None` when it was answered.
    pub(super) fn leave(&mut self, seat: &Seat<A>) -> Option<V> {
        self.remove(|party| matches!(party, Party::Single(seated) if seated.is(seat)))
    }

    /// Removes a reservation. `None` when it was answered.
    pub(super) fn leave_reservation(&mut self, waiter: &Waiter<A>) -> Option<V> {
        self.remove(|party| matches!(party, Party::Reservation(other) if other.is(waiter)))
    }

    /// Removes a clause of an alts, and returns what it brought. `None` when it was served or never joined.
    pub(super) fn leave_clause(&mut self, me: &Request, at: usize) -> Option<V> {
        self.remove(|party| {
            matches!(party, Party::Clause { request, clause, .. } if *clause == at && request.is(me))
        })
    }

    fn remove(&mut self, is_it: impl Fn(&Party<A>) -> bool) -> Option<V> {
        let index = self.places.iter().position(|place| is_it(&place.party))?;
        self.places.remove(index).map(|place| place.with)
    }
}
