//! A bounded queue for any number of threads: a ring of slots, each with a stamp that says whose turn it is.
//!
//! `head` and `tail` are *places*: a lap and the index of a slot in it, in 64 bits, also where a pointer has 32. So no lap
//! comes round in the life of a program, and no thread that was held up takes a new place for its own (ABA). A slot's stamp is the place at which a put may
//! write it, and that place with [`FULL`] once it has; the take that empties it sets it to the same slot's place in the
//! next lap. A put wins its place by moving `tail` on, and then owns the slot until it stamps it; a take does the same at
//! `head`. So each of the two words is written by one side only, and a value is published by its slot's stamp.
//!
//! # The front, and who shuts it
//!
//! The lowest bit of both words is [`SHUT`]: whoever holds the channel's lock sets it, in each word by a
//! read-modify-write. An attempt to move a word on expects it without that bit, so from then on none succeeds, and the
//! words stand still until the bit is cleared: how many values are stored is exact, though puts and takes that won
//! their places before may still be about to stamp their slots. The holder of the lock waits for those where it comes
//! to their slots; they are a few steps from it and wait for nobody.
//!
//! There is no word beside these for "somebody waits", and no fence: registering and publishing are both
//! read-modify-writes of one word, and one of the two comes first.
//!
//! # Orders
//!
//! * Stamps are stored with release and read with acquire: that hands a value to its take, and a slot to its next put.
//! * Moving a word on releases, and reading it acquires where an answer follows. "Full" is told from `tail` first and
//!   `head` after that; who sees a `tail` must not see an older `head` than the thread did that moved `tail` there, or it
//!   would answer "full" to a queue that never was. The same the other way round for "empty". Who wins a place has read
//!   its slot's stamp, which tells all that the word would.
//! * Setting [`SHUT`] acquires and clearing it releases. The holder of the lock, too, moves a word by a
//!   read-modify-write, though nobody else can: the words then have one order of writes, which no plain store begins anew.
//!
//! Source: Vyukov's bounded queue, with the laps of crossbeam's `ArrayQueue`.

use super::super::front::Quick;
use super::cell::{Cell, drain};
use super::padded::Padded;
use super::queue::Ends;
use crate::spin::Spin;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::is_taken_apart;

/// In `head` and `tail`: the front is shut.
const SHUT: u64 = 1;
/// In a stamp: there is a value.
const FULL: u64 = 1;
/// From one place to the next.
const STEP: u64 = 2;

/// The most values that a ring is made for, and the most bytes: its slots are all there from the beginning.
const MOST: usize = 1 << 16;
const MOST_BYTES: usize = 1 << 24;
/// The most bytes of a slot, each of which is made on the stack.
const MOST_BYTES_OF_ONE: usize = 1 << 16;

struct Slot<T> {
    stamp: AtomicU64,
    cell: Cell<T>,
}

impl<T> Slot<T> {
    /// Stores the value of a place.
    ///
    /// # Safety
    /// The stamp was the place, and nobody else has won it: so nobody touches the slot until it is stamped.
    #[inline]
    unsafe fn fill(&self, place: u64, value: T) {
        // SAFETY: the caller has the slot for itself, and it is empty.
        unsafe { self.cell.write(value) };
        self.stamp.store(place | FULL, Ordering::Release);
    }

    /// Moves the value out, and leaves the slot to that place.
    ///
    /// # Safety
    /// The stamp was that of a value, and nobody else has won its place: so nobody touches the slot until it is stamped.
    #[inline]
    unsafe fn vacate(&self, next: u64) -> T {
        // SAFETY: the caller has the slot for itself, and the stamp published the value.
        let value = unsafe { self.cell.read() };
        self.stamp.store(next, Ordering::Release);
        value
    }
}

/// Reads the word of the other end, from which it follows that nothing can be done.
///
/// A load may find what was there long ago, as far as the memory model goes. That will do for who looks again, or asks
/// under the lock. A read-modify-write finds what is there now: where that fits what was read of one's own end before,
/// both were true at once. A compiler may make a fence and a load of an exchange that changes nothing: the fence is what
/// keeps that load behind the look at one's own end, so the order is not to be weakened.
#[inline]
pub(super) fn read<const SURE: bool>(word: &AtomicU64) -> u64 {
    if SURE {
        word.fetch_or(0, Ordering::AcqRel)
    } else {
        word.load(Ordering::Relaxed)
    }
}

/// What a take answers at the place `head`, where it sees no value: whether the queue is empty is told by the two words
/// alone. If it is not, somebody is about to stamp the slot, or has taken from it.
#[inline]
pub(super) fn nothing_at<T>(head: u64, tail: u64) -> Option<Quick<T, ()>> {
    if tail & !SHUT != head {
        None
    } else if tail & SHUT == 0 {
        Some(Quick::Unable(()))
    } else {
        // Shut for puts alone, it may be closed: then it has to be said.
        Some(Quick::Ask(()))
    }
}

pub(super) struct Ring<T> {
    /// Where the next value is taken.
    head: Padded<AtomicU64>,
    /// Where the next value is put.
    tail: Padded<AtomicU64>,
    slots: Box<[Slot<T>]>,
    /// From a place to the same slot's in the next lap: a power of two, so that a place falls into lap and index.
    lap: u64,
}

impl<T> Ring<T> {
    /// Whether there may be a ring with room for so many.
    pub(super) fn is_made_for(capacity: usize) -> bool {
        let bytes = size_of::<Slot<T>>();
        capacity <= MOST
            && bytes <= MOST_BYTES_OF_ONE
            && capacity.saturating_mul(bytes) <= MOST_BYTES
    }

    /// With room for so many, at least one.
    pub(super) fn new(capacity: usize) -> Self {
        let slot = |index| Slot {
            stamp: AtomicU64::new(index as u64 * STEP),
            cell: Cell::new(),
        };
        Ring {
            head: Padded::new(AtomicU64::new(0)),
            tail: Padded::new(AtomicU64::new(0)),
            slots: (0..capacity).map(slot).collect(),
            lap: (capacity as u64 * STEP).next_power_of_two(),
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    fn slot(&self, place: u64) -> &Slot<T> {
        &self.slots[self.index(place)]
    }

    #[inline]
    fn index(&self, place: u64) -> usize {
        ((place & (self.lap - 1)) / STEP) as usize
    }

    /// The place after that one.
    #[inline]
    fn after(&self, place: u64) -> u64 {
        if self.index(place) + 1 < self.slots.len() {
            place + STEP
        } else {
            // The first of the next lap.
            (place & !(self.lap - 1)).wrapping_add(self.lap)
        }
    }

    /// Moves a word on from that place, while the front is open; for one of those who try.
    #[inline]
    fn win(&self, word: &AtomicU64, place: u64) -> bool {
        let after = self.after(place);
        word.compare_exchange(place, after, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// Puts, where nobody else is at it and nothing is in the way.
    #[inline]
    pub(super) fn offer_at_once(&self, value: T) -> Result<(), T> {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail & SHUT == 0 {
            let slot = self.slot(tail);
            if slot.stamp.load(Ordering::Acquire) == tail && self.win(&self.tail, tail) {
                // SAFETY: the stamp said that the slot is empty and this place's, and only one put wins it.
                unsafe { slot.fill(tail, value) };
                return Ok(());
            }
        }
        Err(value)
    }

    /// Takes, where nobody else is at it and nothing is in the way.
    #[inline]
    pub(super) fn poll_at_once(&self) -> Option<T> {
        let head = self.head.load(Ordering::Relaxed);
        if head & SHUT == 0 {
            let slot = self.slot(head);
            if slot.stamp.load(Ordering::Acquire) == head | FULL && self.win(&self.head, head) {
                // SAFETY: the stamp said that this place's value is there, and only one take wins it.
                return Some(unsafe { slot.vacate(head.wrapping_add(self.lap)) });
            }
        }
        None
    }

    /// Puts, while the front is open; for who was not the first to try, or found its slot in use.
    #[cold]
    #[inline(never)]
    pub(super) fn offer<const SURE: bool>(&self, value: T) -> Quick<(), T> {
        let mut spin = Spin::among(self.capacity());
        loop {
            let tail = self.tail.load(Ordering::Acquire);
            if tail & SHUT != 0 {
                return Quick::Ask(value);
            }
            let slot = self.slot(tail);
            if slot.stamp.load(Ordering::Acquire) == tail {
                if self.win(&self.tail, tail) {
                    // SAFETY: as in `offer_at_once`.
                    unsafe { slot.fill(tail, value) };
                    return Quick::Done(());
                }
            } else if self.is_full::<SURE>(tail) {
                return Quick::Unable(value);
            }
            // Somebody else has moved on, or is about to stamp.
            spin.snooze();
        }
    }

    /// Whether that place, at which a put stands, is a lap ahead of the takes. Told by the two words alone: whether the
    /// take that was in its slot before has stamped it yet is no matter.
    #[inline]
    fn is_full<const SURE: bool>(&self, tail: u64) -> bool {
        let head = read::<SURE>(&self.head) & !SHUT;
        head.wrapping_add(self.lap) == tail
    }

    /// Whether the front is open, and a put would find no room: told without a look at the slots.
    #[inline]
    pub(super) fn seems_full(&self) -> bool {
        let tail = self.tail.load(Ordering::Relaxed);
        tail & SHUT == 0 && self.is_full::<false>(tail)
    }

    /// Whether the front is open, and a take would find no value: told without a look at the slots.
    #[inline]
    pub(super) fn seems_empty(&self) -> bool {
        let head = self.head.load(Ordering::Relaxed);
        head & SHUT == 0 && self.tail.load(Ordering::Relaxed) == head
    }

    /// Takes, while the front is open; for who was not the first to try, or found no value in its slot.
    #[cold]
    #[inline(never)]
    pub(super) fn poll<const SURE: bool>(&self) -> Quick<T, ()> {
        let mut spin = Spin::among(self.capacity());
        loop {
            let head = self.head.load(Ordering::Acquire);
            if head & SHUT != 0 {
                return Quick::Ask(());
            }
            let slot = self.slot(head);
            if slot.stamp.load(Ordering::Acquire) == head | FULL {
                if self.win(&self.head, head) {
                    // SAFETY: as in `poll_at_once`.
                    return Quick::Done(unsafe { slot.vacate(head.wrapping_add(self.lap)) });
                }
            } else if let Some(answer) = nothing_at(head, read::<SURE>(&self.tail)) {
                return answer;
            }
            spin.snooze();
        }
    }

    /// Shuts the front at these ends.
    pub(super) fn shut(&self, ends: Ends) {
        if ends.puts {
            self.tail.fetch_or(SHUT, Ordering::Acquire);
        }
        if ends.takes {
            self.head.fetch_or(SHUT, Ordering::Acquire);
        }
    }

    /// Opens it there.
    pub(super) fn open(&self, ends: Ends) {
        if ends.puts {
            self.tail.fetch_and(!SHUT, Ordering::Release);
        }
        if ends.takes {
            self.head.fetch_and(!SHUT, Ordering::Release);
        }
    }

    /// How many values are stored; exact while the front is shut.
    pub(super) fn len(&self) -> usize {
        let tail = self.tail.load(Ordering::Relaxed) & !SHUT;
        let head = self.head.load(Ordering::Relaxed) & !SHUT;
        let (first, end) = (self.index(head), self.index(tail));
        if tail == head {
            0
        } else if first < end {
            end - first
        } else {
            self.slots.len() - first + end
        }
    }

    /// Puts, as who holds the channel's lock and has shut the front; there is room.
    pub(super) fn push(&self, value: T) {
        let tail = self.tail.load(Ordering::Relaxed) & !SHUT;
        let slot = self.slot(tail);
        let mut spin = Spin::among(self.capacity());
        while slot.stamp.load(Ordering::Acquire) != tail {
            spin.snooze();
        }
        // SAFETY: the stamp says that the slot is empty and this place's, and while the front is shut nobody but the
        // holder of the lock moves `tail` on.
        unsafe { slot.fill(tail, value) };
        self.tail.swap(self.after(tail) | SHUT, Ordering::Release);
    }

    /// Takes, as who holds the channel's lock and has shut the front.
    pub(super) fn pop(&self) -> Option<T> {
        if is_taken_apart() {
            return None;
        }
        let head = self.head.load(Ordering::Relaxed) & !SHUT;
        if self.tail.load(Ordering::Relaxed) & !SHUT == head {
            return None;
        }
        let slot = self.slot(head);
        let mut spin = Spin::among(self.capacity());
        while slot.stamp.load(Ordering::Acquire) != head | FULL {
            spin.snooze();
        }
        // SAFETY: the stamp says that this place's value is there, and while the front is shut nobody but the holder of
        // the lock moves `head` on.
        let value = unsafe { slot.vacate(head.wrapping_add(self.lap)) };
        self.head.swap(self.after(head) | SHUT, Ordering::Release);
        Some(value)
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        drain(|| self.pop());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_made_for_so_many_values_and_so_many_bytes() {
        for (capacity, is) in [(1, true), (MOST, true), (MOST + 1, false)] {
            assert_eq!(Ring::<u64>::is_made_for(capacity), is, "{capacity}");
        }
        // With the stamp, a slot more than a kibibyte.
        let [fits, too_many] = [(MOST_BYTES >> 10) - 256, MOST_BYTES >> 10];
        assert!(Ring::<[u8; 1 << 10]>::is_made_for(fits));
        assert!(!Ring::<[u8; 1 << 10]>::is_made_for(too_many));
        assert!(!Ring::<[u8; MOST_BYTES_OF_ONE]>::is_made_for(1));
        // As many bytes as wrap around to few.
        assert!(!Ring::<[u8; 1 << 48]>::is_made_for(MOST));
    }
}
