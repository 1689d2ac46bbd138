//! The channel itself, as its lock guards it: what is stored, who waits, and the commits.
//!
//! Invariants, whenever the lock is free:
//! * a live put waits only while there is no room, a live take only while there is no value and no live put of
//!   another request (an alts may wait on both sides of one channel, A4);
//! * once closed, no take waits and no put joins those that already wait (C6);
//! * values leave in the order of their puts: given back by cancelled takes, stored, waiting.

use flowmeter_harness::channel::{Buffer, Message, Offered, Polled};

use super::effects::Effects;
use super::line::Line;
use super::store::Store;
use super::waiter::Notify;
use crate::channel::design::Core;
use crate::channel::transformed::Transformed;
use crate::channel::watchers::Watchers;

/// What a take that waited is answered; nothing when its channel was closed and empty.
pub(super) type Taken<T> = Option<Handed<T>>;

/// A value that a take which waited was handed.
pub(super) struct Handed<T> {
    pub(super) value: T,
    /// Its place among all that were handed over, in the order of their puts: where it belongs when it comes back.
    pub(super) place: u64,
}

/// What a put that waited is answered, or a reservation; refused, it has back what it brought.
pub(super) type Put<T> = Result<(), Option<T>>;

/// What is stored, and who waits.
pub struct State<T, S> {
    pub(super) buffer: S,
    /// How many values were handed to takes that waited.
    pub(super) handed: u64,
    pub(super) closed: bool,
    /// Whether the last consumer has gone: what a cancelled take gives back is dropped (C14).
    disconnected: bool,
    /// Puts that wait, with their values, and reservations, without.
    pub(super) puts: Line<Put<T>, Option<T>>,
    /// Takes that wait.
    pub(super) takes: Line<Taken<T>, ()>,
    pub(super) transformed: Option<Box<Transformed<T>>>,
    /// Who waits for the close.
    watchers: Watchers,
}

impl<T: Message, S: Store<T>> Core for State<T, S> {
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
        match self.buffer.add(value, effects) {
            Ok(()) => Offered::Done,
            Err(value) => Offered::WouldWait(value),
        }
    }

    #[inline]
    fn poll(&mut self, effects: &mut Effects<T>) -> Polled<T> {
        if let Some(value) = self.buffer.next() {
            if !self.puts.is_empty() {
                self.refill(effects);
            }
            return Polled::Done(value);
        }
        if let Some((putter, Some(value))) = self.puts.next_with(Option::is_some) {
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

    fn close(&mut self, effects: &mut Effects<T>) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        for waker in self.watchers.rise() {
            effects.tell(Notify::Task(waker));
        }
        while let Some((reservation, nothing)) = self.puts.next_with(Option::is_none) {
            effects.tell(reservation.answer(Err(nothing)));
        }
        if self.is_incomplete() && !self.puts.has_waiting() {
            self.complete(effects);
        }
        // Takes wait only where nothing is stored and no other request's put waits, so all hear "closed".
        for (taker, ()) in self.takes.win_all() {
            effects.tell(taker.answer(None));
        }
    }

    fn disconnect(&mut self, effects: &mut Effects<T>) -> Option<Box<Transformed<T>>> {
        let transformed = self.transformed.take();
        self.disconnected = true;
        self.close(effects);
        for (putter, value) in self.puts.win_all() {
            effects.tell(putter.answer(Err(value)));
        }
        self.buffer.empty(effects);
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

impl<T: Message, S: Store<T>> State<T, S> {
    fn storing(buffer: S, transformed: Option<Box<Transformed<T>>>) -> Self {
        State {
            buffer,
            handed: 0,
            closed: false,
            disconnected: false,
            puts: Line::new(),
            takes: Line::new(),
            transformed,
            watchers: Watchers::new(),
        }
    }

    /// Serves takes that wait. The value comes back if none of them keeps it.
    fn offer_to_takes(&mut self, value: T, effects: &mut Effects<T>) -> Result<(), T> {
        let Some(copy) = self.buffer.promises() else {
            return self.hand_to_next(value, effects);
        };
        // All copies before any take is won: `T::clone` may panic.
        let (value, copies) = effects.copies(value, self.takes.len(), copy);
        let mut copies = copies.into_iter();
        for ((taker, ()), copy) in self.takes.win_all().into_iter().zip(&mut copies) {
            effects.tell(taker.answer(Some(Handed {
                value: copy,
                place: 0,
            })));
        }
        // Made for takes that had been won elsewhere.
        copies.for_each(|copy| effects.discard(copy));
        Err(value)
    }

    /// Hands a value that is put now to the take that waits longest.
    pub(super) fn hand_to_next(&mut self, value: T, effects: &mut Effects<T>) -> Result<(), T> {
        self.hand_over(value, self.handed, effects)?;
        self.handed += 1;
        Ok(())
    }

    /// Hands a value of that place to the take that waits longest.
    fn hand_over(&mut self, value: T, place: u64, effects: &mut Effects<T>) -> Result<(), T> {
        let Some((taker, ())) = self.takes.next() else {
            return Err(value);
        };
        effects.tell(taker.answer(Some(Handed { value, place })));
        Ok(())
    }

    /// Moves waiting puts into the room that has come free, and has it held for reservations.
    pub(super) fn refill(&mut self, effects: &mut Effects<T>) {
        while !self.buffer.is_full()
            && let Some((putter, with)) = self.puts.next()
        {
            effects.tell(putter.answer(Ok(())));
            match with {
                None => self.buffer.reserve(),
                Some(value) if self.transformed.is_some() => self.transform(value, effects),
                Some(value) => self.buffer.overfill(value, effects),
            }
        }
    }

    /// Takes back a value that a cancelled take was handed: it goes to the take that waits, or before all that was put
    /// after it.
    pub(super) fn give_back(&mut self, handed: Handed<T>, effects: &mut Effects<T>) {
        let Handed { value, place } = handed;
        // A promise has its value still, and after the last consumer no take follows.
        if self.disconnected || self.buffer.promises().is_some() {
            effects.discard(value);
        } else if let Err(value) = self.hand_over(value, place, effects) {
            self.buffer.give_back(value, place);
        }
    }
}
