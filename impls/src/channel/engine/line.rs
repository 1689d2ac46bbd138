//! The requests that wait on one side of a channel, first come first served.
//!
//! Invariant: every request in line is waiting, except an alts that was won in another channel. That alts leaves by
//! itself, and is passed over until then. Only an alts can be won elsewhere. Any other request is won by being taken
//! out of the line under the channel's lock, because no other thread competes for it.

use std::collections::VecDeque;
use std::marker::PhantomData;

use crate::sync::{Arc, Mutex};

use super::MAX_WAITERS;
use super::seat::{Seat, Seated, Waiting};
use super::waiter::{Notify, Waiter};
use crate::channel::trampoline::Call;

/// A waiting alts. Its answer is the index of the clause that won, whatever its channels carry.
pub(super) type Request = Waiter<usize>;

/// Where a clause of an alts is answered. The alts reads it under the lock of the clause's channel.
pub(super) type Slot<A> = Arc<Mutex<Option<A>>>;

/// A request in line that is not a single put or take of a thread or a task.
pub(super) enum Party<A> {
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
    /// Wins the request, so that no other channel serves it. `None` when another channel already has.
    fn win(&self) -> Option<Notify> {
        match self {
            Party::Reservation(_) | Party::Callback(_) => Some(Notify::Nothing),
            Party::Clause {
                request, clause, ..
            } => request.answer(*clause),
        }
    }
}

/// A request in line, for an answer of type `A`.
enum Place<A, V> {
    /// A thread or a task with a single put or take. What it brings is in its seat.
    Single(Seated<A, V>),
    /// Boxed, so that a place is two words.
    Other(Box<(Party<A>, V)>),
}

impl<A: Send, V> Place<A, V> {
    /// Wins the request, as [`Party::win`] does. A single put or take has no other channel.
    fn win(&self) -> Option<Notify> {
        match self {
            Place::Single(_) => Some(Notify::Nothing),
            Place::Other(other) => other.0.win(),
        }
    }

    fn is_waiting(&self) -> bool {
        match self {
            Place::Other(other) => match &other.0 {
                Party::Clause { request, .. } => request.is_waiting(),
                Party::Reservation(_) | Party::Callback(_) => true,
            },
            Place::Single(_) => true,
        }
    }

    fn is_reservation(&self) -> bool {
        matches!(self, Place::Other(other) if matches!(other.0, Party::Reservation(_)))
    }
}

/// A request that was won, has left the line, and still has to be answered.
#[must_use]
pub(super) struct Won<'l, A, V> {
    asks: Asks<A, V>,
    /// The lock of the channel is held while its line is borrowed.
    locked: PhantomData<&'l mut ()>,
    /// What is notified, where that was known when the request was won.
    notify: Notify,
}

enum Asks<A, V> {
    Single(Seated<A, V>),
    Other(Party<A>),
}

impl<A: Send, V> Won<'_, A, V> {
    /// With what the request brought. `place` was won, and taken out of a line while the lock of its channel is held.
    fn taken_out(place: Place<A, V>, notify: Notify) -> (Self, V) {
        let (asks, notify, with) = match place {
            Place::Single(seated) => {
                // SAFETY: it was just taken out of the line, under the lock that the caller holds.
                let Waiting { notify, with } = unsafe { seated.rise() };
                (Asks::Single(seated), notify, with)
            }
            Place::Other(other) => {
                let (party, with) = *other;
                (Asks::Other(party), notify, with)
            }
        };
        let won = Won {
            asks,
            locked: PhantomData,
            notify,
        };
        (won, with)
    }

    /// Answers, under the lock of the channel. Returns what has to be notified outside the lock.
    pub(super) fn answer(self, answer: A) -> Notify {
        match self.asks {
            Asks::Single(seated) => {
                // SAFETY: it was taken out of the line, whose borrow says that the lock is held.
                unsafe { seated.answer_risen(answer) };
                self.notify
            }
            Asks::Other(Party::Reservation(waiter)) => waiter
                .answer(answer)
                .expect("a waiter in line is answered once, by the operation that removes it"),
            Asks::Other(Party::Callback(call)) => Notify::Call(call(answer)),
            Asks::Other(Party::Clause { slot, .. }) => {
                *slot.lock() = Some(answer);
                self.notify
            }
        }
    }
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
        let waiting = || self.places.iter().filter(|place| place.is_waiting());
        waiting().count() >= self.limit
    }

    /// From here on any number of requests may wait.
    pub(super) fn lift_limit(&mut self) {
        self.limit = usize::MAX;
    }

    /// Adds a single put or take at the end.
    #[inline]
    pub(super) fn join(&mut self, seated: Seated<A, V>) {
        self.add(Place::Single(seated));
    }

    /// Adds another request at the end.
    pub(super) fn join_other(&mut self, party: Party<A>, with: V) {
        self.add(Place::Other(Box::new((party, with))));
    }

    #[inline]
    fn add(&mut self, place: Place<A, V>) {
        self.places.push_back(place);
    }

    /// Whether a request in line still waits.
    pub(super) fn has_waiting(&self) -> bool {
        self.places.iter().any(Place::is_waiting)
    }

    /// Answers the first request that still waits, and returns what has to be notified, and what the request brought.
    ///
    /// # Errors
    /// Gives the answer back when none waits.
    pub(super) fn serve(&mut self, answer: A) -> Result<(Notify, V), A> {
        match self.next() {
            Some((won, with)) => Ok((won.answer(answer), with)),
            None => Err(answer),
        }
    }

    /// Whether the first request is a single put or take.
    #[inline]
    pub(super) fn starts_with_single(&self) -> bool {
        matches!(self.places.front(), Some(Place::Single(_)))
    }

    /// Answers the first request if it is a single put or take, as most are. Such a one is won by being taken out. Moves
    /// what is notified to `notify`, which was nothing, and returns what the request brought.
    ///
    /// # Errors
    /// Gives the answer back otherwise.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn serve_single(&mut self, answer: A, notify: &mut Notify) -> Result<V, A> {
        if self.starts_with_single() {
            if let Some(Place::Single(seated)) = self.places.pop_front() {
                // SAFETY: it was just taken out of the line, which is borrowed under the lock.
                return Ok(unsafe { seated.answer(answer, notify) });
            }
        }
        Err(answer)
    }

    /// Wins the first request that still waits.
    pub(super) fn next(&mut self) -> Option<(Won<'_, A, V>, V)> {
        self.win(|_| true)
    }

    /// Wins the first reservation.
    pub(super) fn next_reservation(&mut self) -> Option<(Won<'_, A, V>, V)> {
        self.win(Place::is_reservation)
    }

    /// Wins the first request that still waits and is no reservation.
    pub(super) fn next_but_reservations(&mut self) -> Option<(Won<'_, A, V>, V)> {
        self.win(|place| !place.is_reservation())
    }

    /// Wins the first that still waits and will do.
    fn win(&mut self, will_do: impl Fn(&Place<A, V>) -> bool) -> Option<(Won<'_, A, V>, V)> {
        let won = |(index, place): (usize, &Place<A, V>)| {
            let notify = will_do(place).then(|| place.win()).flatten()?;
            Some((index, notify))
        };
        let (index, notify) = self.places.iter().enumerate().find_map(won)?;
        let place = self.places.remove(index)?;
        Some(Won::taken_out(place, notify))
    }

    /// Wins all requests; see [`Line::win_first`].
    pub(super) fn win_all(&mut self) -> impl Iterator<Item = (Won<'_, A, V>, V)> {
        self.win_first(usize::MAX)
    }

    /// Wins so many requests at most, before any of them is answered. So no request that ends here is seen to go on while
    /// an alts in the same line can still be won by another channel (A5). The alts themselves go on only under the lock of
    /// this channel. A seat is in the memory of its task: it is fetched once, as its request is answered.
    pub(super) fn win_first(&mut self, most: usize) -> impl Iterator<Item = (Won<'_, A, V>, V)> {
        let (mut won, mut lost) = (Vec::new(), Vec::new());
        while won.len() < most {
            let Some(place) = self.places.pop_front() else {
                break;
            };
            match place.win() {
                Some(notify) => won.push((place, notify)),
                // It leaves by itself.
                None => lost.push(place),
            }
        }
        lost.into_iter()
            .rev()
            .for_each(|place| self.places.push_front(place));
        won.into_iter()
            .map(|(place, notify)| Won::taken_out(place, notify))
    }

    /// Removes a single request; `false` when it was answered. What it brought is in its seat.
    pub(super) fn leave(&mut self, seat: &Seat<A, V>) -> bool {
        self.remove(|place| matches!(place, Place::Single(seated) if seated.is(seat)))
            .is_some()
    }

    /// Removes a reservation; `false` when it was answered.
    pub(super) fn leave_reservation(&mut self, waiter: &Waiter<A>) -> bool {
        self.remove_other(|party| matches!(party, Party::Reservation(other) if other.is(waiter)))
            .is_some()
    }

    /// Removes a clause of an alts, and returns what it brought. `None` when it was served or never joined.
    pub(super) fn leave_clause(&mut self, me: &Request, at: usize) -> Option<V> {
        self.remove_other(|party| {
            matches!(party, Party::Clause { request, clause, .. } if *clause == at && request.is(me))
        })
    }

    fn remove_other(&mut self, is_it: impl Fn(&Party<A>) -> bool) -> Option<V> {
        let removed = self.remove(|place| matches!(place, Place::Other(other) if is_it(&other.0)));
        match removed? {
            Place::Other(other) => Some(other.1),
            Place::Single(_) => None,
        }
    }

    fn remove(&mut self, is_it: impl Fn(&Place<A, V>) -> bool) -> Option<Place<A, V>> {
        let index = self.places.iter().position(is_it)?;
        self.places.remove(index)
    }
}
