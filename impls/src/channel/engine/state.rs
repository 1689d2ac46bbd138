//! The state of a channel, guarded by its lock: the stored values, the waiting requests, and the commits.
//!
//! Invariants, whenever the lock is free:
//! * A live put waits only while there is no room. A live take waits only while there is no value and no live put of
//!   another request. An alts may wait on both sides of one channel (A4).
//! * Once the channel is closed, no take waits, and no put joins those that already wait (C6).
//! * Values leave in the order of their puts: given back by cancelled takes, stored, waiting.

use flowmeter_harness::channel::{Buffer, Offered, Polled};

use super::effects::Effects;
use super::line::Line;
use super::store::Store;
use super::waiter::Notify;
use crate::channel::design::Core;
use crate::channel::front::Quick;
use crate::channel::transformed::Transformed;
use crate::channel::watchers::Watchers;

/// The answer to a take that waited; `None` when its channel was closed and empty.
pub(super) type Taken<T> = Option<Handed<T>>;

/// A value that was handed to a waiting take.
pub(super) struct Handed<T> {
    pub(super) value: T,
    /// Its place among all values that were handed over, in the order of their puts. It says where the value belongs
    /// when it comes back.
    pub(super) place: u64,
}

/// The answer to a waiting put or reservation. A refused one gets back what it brought.
pub(super) type Put<T> = Result<(), Option<T>>;

/// Waiting puts. A reservation brings no value.
pub(super) type Puts<T> = Line<Put<T>, Option<T>>;

/// Waiting takes.
pub(super) type Takes<T> = Line<Taken<T>, ()>;

/// The stored values and the waiting requests.
pub struct State<T, S> {
    pub(super) buffer: S,
    /// The number of values that were handed to waiting takes.
    pub(super) handed: u64,
    pub(super) closed: bool,
    /// Whether the channel is open, has no transform, and is no promise.
    is_simple: bool,
    /// Whether the last consumer was dropped. Then values that cancelled takes give back are dropped (C14).
    disconnected: bool,
    /// Waiting puts, with their values, and waiting reservations, without.
    pub(super) puts: Puts<T>,
    /// Waiting takes.
    pub(super) takes: Takes<T>,
    pub(super) transformed: Option<Box<Transformed<T>>>,
    /// Futures that wait for the close.
    watchers: Watchers,
}

impl<T: Send, S: Store<T>> Core for State<T, S> {
    type Value = T;
    type Effects = Effects<T>;

    fn new(buffer: Buffer, transformed: Option<Box<Transformed<T>>>) -> Self {
        let store = match transformed {
            Some(_) => S::overfilled(buffer),
            None => S::new(buffer),
        };
        State::storing(store, transformed)
    }

    fn promise(copy: fn(&T) -> T) -> Self {
        State::storing(S::promise(copy), None)
    }

    #[inline]
    fn offer(&mut self, value: T, effects: &mut Effects<T>) -> Offered<T> {
        let mut notify = Notify::Nothing;
        match self.offer_simply(value, &mut notify) {
            Quick::Done(()) => {
                effects.tell(notify);
                Offered::Done
            }
            Quick::Unable(value) => Offered::WouldWait(value),
            Quick::Ask(value) => self.offer_in_full(value, effects),
        }
    }

    #[inline]
    fn poll(&mut self, effects: &mut Effects<T>) -> Polled<T> {
        let mut notify = Notify::Nothing;
        match self.poll_simply(&mut notify) {
            Quick::Done(value) => {
                effects.tell(notify);
                Polled::Done(value)
            }
            Quick::Unable(()) => Polled::WouldWait,
            Quick::Ask(()) => self.poll_in_full(effects),
        }
    }

    fn close(&mut self, effects: &mut Effects<T>) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.is_simple = false;
        if let Some(wakers) = self.watchers.rise() {
            wakers.for_each(|waker| effects.tell(Notify::Task(waker)));
        }
        if self.is_incomplete() && !self.puts.has_waiting() {
            self.complete(effects);
        }
        if !self.takes.is_empty() {
            self.end_takes(effects);
        }
        // Last, so that a reservation which ends here is not seen to go on while an alts waits for a take (A5).
        while let Some((reservation, nothing)) = self.puts.next_reservation() {
            effects.tell(reservation.answer(Err(nothing)));
        }
    }

    fn disconnect(&mut self, effects: &mut Effects<T>) -> Option<Box<Transformed<T>>> {
        let transformed = self.transformed.take();
        self.disconnected = true;
        // No take waits, except callbacks, which run later. Puts come before the close, which would answer reservations while
        // an alts waits for a put (A5).
        if !self.puts.is_empty() {
            for (putter, value) in self.puts.win_all() {
                effects.tell(putter.answer(Err(value)));
            }
        }
        self.close(effects);
        if !self.buffer.is_empty() {
            self.buffer.empty(effects);
        }
        transformed
    }

    fn is_closed(&self) -> bool {
        self.closed
    }

    fn stored(&self) -> usize {
        self.buffer.len()
    }

    fn capacity(&self) -> Option<usize> {
        self.buffer.capacity()
    }

    fn watchers(&mut self) -> &mut Watchers {
        &mut self.watchers
    }
}

impl<T: Send, S: Store<T>> State<T, S> {
    fn storing(buffer: S, transformed: Option<Box<Transformed<T>>>) -> Self {
        State {
            handed: 0,
            closed: false,
            is_simple: transformed.is_none() && buffer.promises().is_none(),
            disconnected: false,
            puts: Line::new(),
            takes: Line::new(),
            buffer,
            transformed,
            watchers: Watchers::new(),
        }
    }

    /// Answers all waiting takes of a closed channel. Takes wait only where nothing was stored and no put of another request
    /// waits. So they get what a transform has left, and then "closed".
    fn end_takes(&mut self, effects: &mut Effects<T>) {
        for (taker, ()) in self.takes.win_all() {
            let left = self.buffer.next().map(|value| {
                let place = self.handed;
                self.handed += 1;
                Handed { value, place }
            });
            effects.tell(taker.answer(left));
        }
    }

    /// Stores a value, where nothing else is to be done.
    ///
    /// # Errors
    /// Gives the value back otherwise.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn add_at_once(&mut self, value: T) -> Result<(), T> {
        if self.is_simple && self.takes.is_empty() {
            self.buffer.add(value)
        } else {
            Err(value)
        }
    }

    /// Removes a stored value, where nothing else is to be done.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn next_at_once(&mut self) -> Option<T> {
        let is_plain = self.is_simple && self.puts.is_empty();
        is_plain.then(|| self.buffer.next()).flatten()
    }

    /// Puts, if that notifies at most one request, which is a put or a take of a thread or a task, and drops no value.
    /// Most do. "Unable" says that the put has to wait, and "ask" that [`State::offer_in_full`] is needed.
    ///
    /// It moves what is notified to `notify`, which was nothing. `attempt` says why it is inlined.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn offer_simply(&mut self, value: T, notify: &mut Notify) -> Quick<(), T> {
        if !self.is_simple {
            return Quick::Ask(value);
        }
        if !self.takes.is_empty() {
            let handed = Handed {
                value,
                place: self.handed,
            };
            return match self.takes.serve_single(Some(handed), notify) {
                Ok(()) => {
                    self.handed += 1;
                    Quick::Done(())
                }
                Err(Some(Handed { value, .. })) => Quick::Ask(value),
                Err(None) => unreachable!("a value was offered"),
            };
        }
        match self.buffer.add(value) {
            Ok(()) => Quick::Done(()),
            Err(value) if self.buffer.makes_puts_wait() => Quick::Unable(value),
            Err(value) => Quick::Ask(value),
        }
    }

    /// Takes, with the same limits.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn poll_simply(&mut self, notify: &mut Notify) -> Quick<T, ()> {
        let any_waits = !self.puts.is_empty();
        if !self.is_simple || any_waits && !self.puts.starts_with_single() {
            return Quick::Ask(());
        }
        let stored = self.buffer.next();
        // Values that came back may have overfilled the buffer.
        if !any_waits || stored.is_some() && self.buffer.is_full() {
            return stored.map_or(Quick::Unable(()), Quick::Done);
        }
        let Ok(Some(waiting)) = self.puts.serve_single(Ok(()), notify) else {
            unreachable!("a single put brings its value");
        };
        match stored {
            None => Quick::Done(waiting),
            Some(value) => {
                self.buffer.store(waiting);
                Quick::Done(value)
            }
        }
    }

    /// Puts, whatever that takes.
    #[inline(never)]
    pub(super) fn offer_in_full(&mut self, value: T, effects: &mut Effects<T>) -> Offered<T> {
        if self.closed {
            return Offered::Closed(value);
        }
        if self.transformed.is_some() {
            return self.offer_transformed(value, effects);
        }
        let value = if self.takes.is_empty() {
            value
        } else {
            match self.offer_to_takes(value, effects) {
                Ok(()) => return Offered::Done,
                Err(value) => value,
            }
        };
        let refused = self
            .buffer
            .add(value)
            .or_else(|value| self.buffer.overflow(value, effects));
        match refused {
            Ok(()) => Offered::Done,
            Err(value) => Offered::WouldWait(value),
        }
    }

    /// Takes, whatever that takes.
    #[inline(never)]
    pub(super) fn poll_in_full(&mut self, effects: &mut Effects<T>) -> Polled<T> {
        if let Some(value) = self.buffer.next() {
            self.refill(effects);
            return Polled::Done(value);
        }
        if let Some((putter, Some(value))) = self.puts.next_but_reservations() {
            effects.tell(putter.answer(Ok(())));
            return Polled::Done(value);
        }
        if !self.closed {
            return Polled::WouldWait;
        }
        if self.is_incomplete() {
            self.complete(effects);
            return self.poll(effects);
        }
        Polled::Closed
    }

    /// Serves waiting takes. The value comes back if none of them keeps it.
    #[inline]
    fn offer_to_takes(&mut self, value: T, effects: &mut Effects<T>) -> Result<(), T> {
        match self.buffer.promises() {
            None => self.hand_to_next(value, effects),
            Some(copy) => Err(self.offer_copies(value, copy, effects)),
        }
    }

    /// Serves all waiting takes with copies of the value, which comes back.
    #[cold]
    fn offer_copies(&mut self, value: T, copy: fn(&T) -> T, effects: &mut Effects<T>) -> T {
        // All copies are made before any take is won, because `T::clone` may panic.
        let (value, copies) = effects.copies(value, self.takes.len(), copy);
        let mut copies = copies.into_iter();
        for ((taker, ()), copy) in self.takes.win_all().zip(&mut copies) {
            effects.tell(taker.answer(Some(Handed {
                value: copy,
                place: 0,
            })));
        }
        // Copies made for takes that had been won in other channels.
        copies.for_each(|copy| effects.discard(copy));
        value
    }

    /// Hands a value that is put now to the longest waiting take.
    #[inline]
    pub(super) fn hand_to_next(&mut self, value: T, effects: &mut Effects<T>) -> Result<(), T> {
        self.hand_over(value, self.handed, effects)?;
        self.handed += 1;
        Ok(())
    }

    /// Hands a value of that place to the longest waiting take.
    #[inline]
    fn hand_over(&mut self, value: T, place: u64, effects: &mut Effects<T>) -> Result<(), T> {
        match self.takes.serve(Some(Handed { value, place })) {
            Ok((notify, ())) => {
                effects.tell(notify);
                Ok(())
            }
            Err(Some(Handed { value, .. })) => Err(value),
            Err(None) => unreachable!("a value was offered"),
        }
    }

    /// Moves the values of waiting puts into free room, and holds free room for waiting reservations.
    pub(super) fn refill(&mut self, effects: &mut Effects<T>) {
        while !self.buffer.is_full() {
            let Ok((notify, with)) = self.puts.serve(Ok(())) else {
                break;
            };
            effects.tell(notify);
            match with {
                None => self.buffer.reserve(),
                Some(value) if self.transformed.is_some() => self.transform(value, effects),
                Some(value) => self.buffer.overfill(value, effects),
            }
        }
    }

    /// Takes back a value that was handed to a cancelled take. It goes to a waiting take, or before all values that
    /// were put after it.
    pub(super) fn give_back(&mut self, handed: Handed<T>, effects: &mut Effects<T>) {
        let Handed { value, place } = handed;
        // A promise still has its value. After the last consumer no take follows.
        if self.disconnected || self.buffer.promises().is_some() {
            effects.discard(value);
        } else if let Err(value) = self.hand_over(value, place, effects) {
            self.buffer.give_back(value, place);
        }
    }
}
