//! The state of a channel, guarded by its lock: the stored values, the waiting requests, and the commits.
//!
//! Invariants, whenever the lock is free:
//! * A live put waits only while there is no room. A live take waits only while there is no value and no live put of
//!   another request. An alts may wait on both sides of one channel (A4).
//! * Once the channel is closed, no take waits, and no put joins those that already wait (C6).
//! * Values leave in the order of their puts: given back by cancelled takes, stored, waiting. A value is handed to a
//!   waiting take only while nothing is stored. So every stored value was put later than any that can be given back.
//! * Stored values, values that were given back, and permits take up room. Reservations wait in line with the puts.
//!
//! In separate files are the lines of waiting requests (`waiting`), permits (`reserve`) and transforms (`transformed`).
//! Few channels have the last two.

use std::collections::VecDeque;

use flowmeter_harness::channel::{Buffer, Message, Offered, Polled};

use super::effects::Effects;
use super::hand::Handed;
use super::operation::{Claim, Operation};
use super::store::{Store, Stored};
use super::waiting::{WaitingPut, WaitingTake};
use crate::channel::design::Core;
use crate::channel::promise::copies;
use crate::channel::transformed::Transformed;
use crate::channel::watchers::Watchers;
use crate::sync::Arc;

/// The result of an attempt to commit a clause at once.
pub(super) enum Attempt<R, N> {
    /// The clause is committed.
    Done(R),
    /// The clause is not able now.
    NotAble(N),
    /// Another clause of the same request was committed by another thread.
    Lost(N),
}

/// The stored values and the waiting requests.
pub struct State<T> {
    pub(super) store: Store<T>,
    /// The number of values that were handed to waiting takes.
    pub(super) handed: u64,
    /// Values that were handed to takes which were cancelled before they looked, with their places (C9).
    returned: VecDeque<(u64, T)>,
    /// The number of permits that hold room.
    pub(super) reserved: usize,
    pub(super) closed: bool,
    /// Whether the last consumer was dropped. Then values that cancelled takes give back are dropped (C14).
    disconnected: bool,
    pub(super) puts: VecDeque<WaitingPut<T>>,
    pub(super) takes: VecDeque<WaitingTake<T>>,
    pub(super) transformed: Option<Box<Transformed<T>>>,
    /// Futures that wait for the close.
    watchers: Watchers,
}

impl<T: Message> Core for State<T> {
    type Value = T;
    type Effects = Effects<T>;

    fn new(buffer: Buffer, transformed: Option<Box<Transformed<T>>>) -> Self {
        State::storing(Store::new(buffer), transformed)
    }

    fn promise(copy: fn(&T) -> T) -> Self {
        State::storing(Store::promise(copy), None)
    }

    #[inline]
    fn offer(&mut self, value: T, effects: &mut Effects<T>) -> Offered<T> {
        match self.put_now(value, None, effects) {
            Attempt::Done(Ok(())) => Offered::Done,
            Attempt::Done(Err(value)) => Offered::Closed(value),
            Attempt::NotAble(value) | Attempt::Lost(value) => Offered::WouldWait(value),
        }
    }

    #[inline]
    fn poll(&mut self, effects: &mut Effects<T>) -> Polled<T> {
        match self.take_now(None, effects) {
            Attempt::Done(Some(value)) => Polled::Done(value),
            Attempt::Done(None) => Polled::Closed,
            Attempt::NotAble(()) | Attempt::Lost(()) => Polled::WouldWait,
        }
    }

    fn close(&mut self, effects: &mut Effects<T>) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        if let Some(wakers) = self.watchers.rise() {
            effects.wakers.extend(wakers);
        }
        self.refuse_reservations(effects);
        if self.is_incomplete() && !self.puts.iter().any(|put| put.operation.is_waiting()) {
            self.complete(effects);
        }
        // Takes wait only where nothing is stored and no put of another request waits. So all of them are answered
        // "closed". Takes of requests that are over need no answer.
        for taker in std::mem::take(&mut self.takes) {
            // An empty hand means "closed".
            if let Claim::Won = Operation::claim(None, &taker.operation, taker.clause, || {}) {
                effects.wake(taker.operation);
            }
        }
    }

    fn disconnect(&mut self, effects: &mut Effects<T>) -> Option<Box<Transformed<T>>> {
        let transformed = self.transformed.take();
        self.disconnected = true;
        self.close(effects);
        for put in std::mem::take(&mut self.puts) {
            let Some(back) = &put.back else {
                if put.operation.refuse(put.clause, || {}) {
                    effects.wake(Arc::clone(&put.operation));
                }
                // Its own thread removes it and gets the value back.
                self.puts.push_back(put);
                continue;
            };
            let mut value = put.value;
            let give_back = || {
                if let Some(value) = value.take() {
                    back.give(Handed { value, place: 0 });
                }
            };
            if put.operation.refuse(put.clause, give_back) {
                effects.wake(put.operation);
            }
        }
        let returned = std::mem::take(&mut self.returned);
        effects
            .discarded
            .extend(returned.into_iter().map(|(_, value)| value));
        self.store.empty_into(&mut effects.discarded);
        transformed
    }

    fn is_closed(&self) -> bool {
        self.closed
    }

    fn stored(&self) -> usize {
        self.store.len() + self.returned.len()
    }

    fn capacity(&self) -> Option<usize> {
        self.store.capacity()
    }

    fn watchers(&mut self) -> &mut Watchers {
        &mut self.watchers
    }
}

impl<T: Message> State<T> {
    fn storing(store: Store<T>, transformed: Option<Box<Transformed<T>>>) -> Self {
        State {
            store,
            handed: 0,
            returned: VecDeque::new(),
            reserved: 0,
            closed: false,
            disconnected: false,
            puts: VecDeque::new(),
            takes: VecDeque::new(),
            transformed,
            watchers: Watchers::new(),
        }
    }

    /// The room that is taken beside the stored values.
    #[inline]
    fn beside(&self) -> usize {
        self.returned.len() + self.reserved
    }

    /// Whether a put would have to wait for room.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.store.is_full(self.beside())
    }

    /// Commits a put if it is able: the channel is closed, a take waits, or there is room. `me` is the put's request,
    /// if other threads can see that one already.
    #[inline]
    pub(super) fn put_now(
        &mut self,
        value: T,
        me: Option<&Operation>,
        effects: &mut Effects<T>,
    ) -> Attempt<Result<(), T>, T> {
        if self.closed {
            return if ends(me) {
                Attempt::Done(Err(value))
            } else {
                Attempt::Lost(value)
            };
        }
        if self.takes.is_empty() && self.is_full() {
            return Attempt::NotAble(value);
        }
        if self.transformed.is_some() {
            return self.put_transformed(value, me, effects);
        }
        self.put_to_take_or_store(value, me, effects)
    }

    fn put_to_take_or_store(
        &mut self,
        value: T,
        me: Option<&Operation>,
        effects: &mut Effects<T>,
    ) -> Attempt<Result<(), T>, T> {
        match self.store {
            Store::Promise { value: None, copy } => self.keep_promise(value, copy, me, effects),
            // The promise is kept already: no take waits, and the value is dropped.
            Store::Promise { .. } => self.store_value(value, me, effects),
            Store::Rendezvous | Store::Queue { .. } => {
                match self.hand_over(value, self.handed, me, effects) {
                    Attempt::NotAble(value) => self.store_value(value, me, effects),
                    done => {
                        self.handed += 1;
                        done
                    }
                }
            }
        }
    }

    /// Stores the value of a promise and answers every waiting take with a copy.
    fn keep_promise(
        &mut self,
        value: T,
        copy: fn(&T) -> T,
        me: Option<&Operation>,
        effects: &mut Effects<T>,
    ) -> Attempt<Result<(), T>, T> {
        // All copies are made before any take is claimed, because `T::clone` may panic.
        let held = &mut effects.discarded;
        let (value, copies) = copies(value, self.takes.len(), copy, held);
        let mut copies = copies.into_iter();
        let stored = self.store_value(value, me, effects);
        if let Attempt::Done(_) = stored {
            // A copy for each take in line, even for one that another thread has claimed.
            for copy in &mut copies {
                let taker = self.takes.pop_front().expect("the line was counted");
                let mut copy = Some(copy);
                let hand = || taker.give(&mut copy, 0);
                if let Claim::Won = Operation::claim(None, &taker.operation, taker.clause, hand) {
                    effects.wake(taker.operation);
                }
                effects.discarded.extend(copy);
            }
        }
        effects.discarded.extend(copies);
        stored
    }

    /// Gives `value` to the first live take of another request.
    pub(super) fn hand_over(
        &mut self,
        value: T,
        place: u64,
        me: Option<&Operation>,
        effects: &mut Effects<T>,
    ) -> Attempt<Result<(), T>, T> {
        let mut value = Some(value);
        let mut index = 0;
        while let Some(taker) = self.takes.get(index) {
            let won = if me.is_some_and(|me| me.is(&taker.operation)) {
                Claim::OtherOver
            } else {
                let hand = || taker.give(&mut value, place);
                Operation::claim(me, &taker.operation, taker.clause, hand)
            };
            match won {
                Claim::Won => {
                    let taker = self.takes.remove(index).expect("it was just looked at");
                    effects.wake(taker.operation);
                    return Attempt::Done(Ok(()));
                }
                Claim::OtherOver => index += 1,
                Claim::SelfOver => return Attempt::Lost(value.expect("no take has the value")),
            }
        }
        Attempt::NotAble(value.expect("no take has the value"))
    }

    fn store_value(
        &mut self,
        value: T,
        me: Option<&Operation>,
        effects: &mut Effects<T>,
    ) -> Attempt<Result<(), T>, T> {
        if self.is_full() {
            return Attempt::NotAble(value);
        }
        if !ends(me) {
            return Attempt::Lost(value);
        }
        self.store_anyway(value, effects);
        Attempt::Done(Ok(()))
    }

    /// Stores a value for which there is room, or which a fixed buffer has to take beyond its capacity.
    pub(super) fn store_anyway(&mut self, value: T, effects: &mut Effects<T>) {
        // Values that came back may have overfilled the buffer. They are older than the stored ones.
        while self.store.slides(self.returned.len()) {
            let Some((_, oldest)) = self.returned.pop_front() else {
                break;
            };
            effects.discarded.push(oldest);
        }
        match self.store.add(value, self.beside()) {
            Stored::Kept => {}
            Stored::Discarded(value) => effects.discarded.push(value),
            Stored::Full(value) => self.store.overfill(value),
        }
    }

    /// Commits a take if it is able: there is a value, a put waits, or the channel is closed.
    #[inline]
    pub(super) fn take_now(
        &mut self,
        me: Option<&Operation>,
        effects: &mut Effects<T>,
    ) -> Attempt<Option<T>, ()> {
        if self.store.has_value() || !self.returned.is_empty() {
            // Copied before the request ends, because `T::clone` may panic.
            let promised = self.store.promised();
            if !ends(me) {
                effects.discarded.extend(promised);
                return Attempt::Lost(());
            }
            let value = promised
                .or_else(|| self.returned.pop_front().map(|(_, value)| value))
                .or_else(|| self.store.next());
            if !self.puts.is_empty() {
                self.refill(effects);
            }
            return Attempt::Done(value);
        }
        match self.take_from_put(me, effects) {
            Attempt::NotAble(()) if self.closed && self.is_incomplete() => {
                self.complete(effects);
                self.take_now(me, effects)
            }
            Attempt::NotAble(()) if self.closed && ends(me) => Attempt::Done(None),
            Attempt::NotAble(()) if self.closed => Attempt::Lost(()),
            attempt => attempt,
        }
    }

    /// Takes from the first live put of another request.
    fn take_from_put(
        &mut self,
        me: Option<&Operation>,
        effects: &mut Effects<T>,
    ) -> Attempt<Option<T>, ()> {
        self.commit_put(me, effects, |put| put.value.is_some())
    }

    /// Commits the first live put or reservation of another request that satisfies `will_do`. A reservation has no
    /// value.
    fn commit_put(
        &mut self,
        me: Option<&Operation>,
        effects: &mut Effects<T>,
        will_do: fn(&WaitingPut<T>) -> bool,
    ) -> Attempt<Option<T>, ()> {
        let mut index = 0;
        while let Some(put) = self.puts.get(index) {
            let own = me.is_some_and(|me| me.is(&put.operation));
            let won = if own || !will_do(put) {
                Claim::OtherOver
            } else {
                Operation::claim(me, &put.operation, put.clause, || {})
            };
            match won {
                Claim::Won => {
                    let put = self.puts.remove(index).expect("it was just looked at");
                    effects.wake(put.operation);
                    return Attempt::Done(put.value);
                }
                // Its own thread removes it and gets the value back.
                Claim::OtherOver => index += 1,
                Claim::SelfOver => return Attempt::Lost(()),
            }
        }
        Attempt::NotAble(())
    }

    /// Moves the values of waiting puts into free room, and holds free room for waiting reservations.
    pub(super) fn refill(&mut self, effects: &mut Effects<T>) {
        while !self.is_full() {
            let Attempt::Done(value) = self.commit_put(None, effects, |_| true) else {
                return;
            };
            match value {
                None => self.reserved += 1,
                Some(value) if self.transformed.is_some() => self.transform(value, effects),
                Some(value) => self.store_anyway(value, effects),
            }
        }
    }

    /// Takes back a value that was handed to a cancelled take. It goes to a waiting take, or before all values that
    /// were put after it.
    pub(super) fn give_back(&mut self, value: T, place: u64, effects: &mut Effects<T>) {
        // A promise still has its value. After the last consumer no take follows.
        if self.disconnected || matches!(self.store, Store::Promise { .. }) {
            effects.discarded.push(value);
            return;
        }
        match self.hand_over(value, place, None, effects) {
            Attempt::NotAble(value) | Attempt::Lost(value) => {
                let index = self.returned.partition_point(|(other, _)| *other < place);
                self.returned.insert(index, (place, value));
            }
            Attempt::Done(_) => {}
        }
    }
}

/// Ends the request before its own thread has an effect. `false` when another thread was first.
#[inline]
pub(super) fn ends(me: Option<&Operation>) -> bool {
    me.is_none_or(Operation::end)
}
