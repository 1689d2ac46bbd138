//! A ring of slots between one thread that fills them and one that empties them.
//!
//! `tail` counts the values that were put, and `head` those that were taken; both wrap around. The value of number `n`
//! lies in slot `n`, modulo the number of slots, which is a power of two. There may be more slots than values may be
//! stored.
//!
//! Each word is written by one side only, with a plain store. Each side remembers its own word, and what it last read of the
//! other one. So it reads the other side's cache line only when the ring seems full or empty.
//!
//! # Orders
//!
//! `tail` is stored with release after a slot was filled, and read with acquire before it is emptied. That hands a value
//! over. `head` hands the slot back in the same way.
//!
//! Source: Lamport's queue ("Proving the correctness of multiprocess programs", 1977), with the remembered words of the
//! Disruptor and rtrb.

use std::array;

use flowmeter_harness::channel::Polled;

use super::super::cell::{Cell, drain};
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Arc, is_taken_apart};

/// On cache lines of its own. Of two lines that lie in a pair, processors may fetch the other one too.
#[repr(align(128))]
struct Apart(AtomicUsize);

struct Ring<T, S> {
    /// How many values were taken.
    head: Apart,
    /// How many values were put.
    tail: Apart,
    closed: AtomicBool,
    /// How many values may be stored.
    room: usize,
    /// Their number is a power of two, so a number's slot is found by a mask.
    slots: Box<[Cell<T>]>,
    /// What both sides share besides.
    shared: S,
}

impl<T, S> Ring<T, S> {
    #[inline]
    fn slot(&self, number: usize) -> &Cell<T> {
        let index = number & (self.slots.len() - 1);
        // With a check of the index a message takes 7.1 ns in place of 4.9 at room 64
        // (docs/lab/2026-11-30-one-producer-one-consumer.md).
        // SAFETY: there is at least one slot, so the mask is less than their number, and so is what it leaves.
        unsafe { self.slots.get_unchecked(index) }
    }

    /// Acquire: what was put before the close is seen by a take that answers "closed and empty".
    #[inline]
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Release, for the last put. In the models that put has passed a fence, so no model needs the release.
    fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }
}

impl<T, S> Drop for Ring<T, S> {
    fn drop(&mut self) {
        if is_taken_apart() {
            return;
        }
        let [mut head, tail] = [&self.head, &self.tail].map(|word| word.0.load(Ordering::Relaxed));
        drain(|| {
            let number = head;
            (number != tail).then(|| {
                head = number.wrapping_add(1);
                // SAFETY: both sides have gone, and the values between the two words were not taken.
                unsafe { self.slot(number).read() }
            })
        });
    }
}

/// The side that fills. On cache lines of its own: the two sides are often allocated beside each other.
#[repr(align(128))]
pub(super) struct Filling<T, S> {
    ring: Arc<Ring<T, S>>,
    tail: usize,
    /// `head` as it was last read.
    head: usize,
}

/// The side that empties, likewise.
#[repr(align(128))]
pub(super) struct Emptying<T, S> {
    ring: Arc<Ring<T, S>>,
    head: usize,
    /// `tail` as it was last read.
    tail: usize,
}

/// Room for one value, until it is filled.
pub(super) struct Room<'a, T, S>(&'a mut Filling<T, S>);

/// A value that is there.
pub(super) struct Stored<'a, T, S>(&'a mut Emptying<T, S>);

/// Both sides of a new ring with room for so many values. All slots are allocated at once.
///
/// # Panics
/// For more slots than an allocation may have. The process is aborted where memory does not suffice, as by `Vec`.
pub(super) fn ring<T, S>(room: usize, shared: S) -> (Filling<T, S>, Emptying<T, S>) {
    let slots = room.checked_next_power_of_two();
    let slots = slots.expect("a ring with room for more than half of all numbers");
    let [head, tail] = array::from_fn(|_| Apart(AtomicUsize::new(0)));
    let ring = Arc::new(Ring {
        head,
        tail,
        closed: AtomicBool::new(false),
        room,
        slots: (0..slots).map(|_| Cell::new()).collect(),
        shared,
    });
    let filling = Filling {
        ring: Arc::clone(&ring),
        tail: 0,
        head: 0,
    };
    let emptying = Emptying {
        ring,
        head: 0,
        tail: 0,
    };
    (filling, emptying)
}

impl<T, S> Filling<T, S> {
    /// What both sides share besides the ring.
    #[inline]
    pub(super) fn shared(&self) -> &S {
        &self.ring.shared
    }

    /// Ends the channel.
    pub(super) fn close(&self) {
        self.ring.close();
    }

    /// Room for a value. No value is moved before there is some: a large one would be copied to and fro.
    #[inline]
    pub(super) fn room(&mut self) -> Polled<Room<'_, T, S>> {
        let has_room = self.has_room();
        // Only now: a consumer that leaves closes the channel and then makes room.
        if self.ring.is_closed() {
            Polled::Closed
        } else if has_room {
            Polled::Done(Room(self))
        } else {
            Polled::WouldWait
        }
    }

    /// How many values there is room for, as was last read, and the room of the whole ring.
    pub(super) fn at_hand(&self) -> (usize, usize) {
        let room = self.ring.room;
        (room - self.tail.wrapping_sub(self.head), room)
    }

    /// The word of the other side is read only if it seems that there is no room.
    #[inline]
    fn has_room(&mut self) -> bool {
        let is_full = |side: &Self| side.tail.wrapping_sub(side.head) == side.ring.room;
        if is_full(self) {
            self.head = self.ring.head.0.load(Ordering::Acquire);
        }
        !is_full(self)
    }
}

impl<T, S> Room<'_, T, S> {
    /// Stores the value. Then calls `after` with what both sides share besides the ring.
    #[inline]
    pub(super) fn fill(self, value: T, after: impl FnOnce(&S)) {
        let Filling { ring, tail, .. } = self.0;
        // SAFETY: `head` said that the slot was emptied, and only this side fills.
        unsafe { ring.slot(*tail).write(value) };
        *tail = tail.wrapping_add(1);
        ring.tail.0.store(*tail, Ordering::Release);
        after(&ring.shared);
    }
}

impl<T, S> Emptying<T, S> {
    /// What both sides share besides the ring.
    #[inline]
    pub(super) fn shared(&self) -> &S {
        &self.ring.shared
    }

    /// Ends the channel.
    pub(super) fn close(&self) {
        self.ring.close();
    }

    /// The next value.
    #[inline]
    pub(super) fn stored(&mut self) -> Polled<Stored<'_, T, S>> {
        if self.has_value() {
            return Polled::Done(Stored(self));
        }
        if !self.ring.is_closed() {
            return Polled::WouldWait;
        }
        // The producer may have put before it closed.
        if self.has_value() {
            Polled::Done(Stored(self))
        } else {
            Polled::Closed
        }
    }

    /// Drops the values that are there.
    pub(super) fn clear(&mut self) {
        drain(|| self.has_value().then(|| Stored(self).take(|_| {})));
    }

    /// How many values there are, as was last read, and the room of the whole ring.
    pub(super) fn at_hand(&self) -> (usize, usize) {
        (self.tail.wrapping_sub(self.head), self.ring.room)
    }

    /// The word of the other side is read only if it seems that there is no value.
    #[inline]
    fn has_value(&mut self) -> bool {
        if self.head == self.tail {
            self.tail = self.ring.tail.0.load(Ordering::Acquire);
        }
        self.head != self.tail
    }
}

impl<T, S> Stored<'_, T, S> {
    /// Takes the value. Then calls `after` with what both sides share besides the ring.
    #[inline]
    pub(super) fn take(self, after: impl FnOnce(&S)) -> T {
        let Emptying { ring, head, .. } = self.0;
        // SAFETY: `tail` said that the slot was filled, and only this side empties.
        let value = unsafe { ring.slot(*head).read() };
        *head = head.wrapping_add(1);
        ring.head.0.store(*head, Ordering::Release);
        after(&ring.shared);
        value
    }
}
