//! A bounded queue for any number of threads: a ring of slots, each with a stamp that says which put or take may use
//! it.
//!
//! # Words
//!
//! `head` is the place of the next take, and `tail` the place of the next put. A place is a lap and the index of a
//! slot. All words have 64 bits, also where a pointer has 32.
//!
//! ```text
//!              63                           L  L-1           1     0
//!             +------------------------------+----------------+------+
//! head, tail  |  lap                         |  index         | SHUT |
//!             +------------------------------+----------------+------+
//! stamp       |  lap                         |  index         | FULL |
//!             +------------------------------+----------------+------+
//!
//! 2^L is the field `lap`: capacity * STEP, rounded up to a power of two.
//! ```
//!
//! A slot's stamp takes three values in turn:
//!
//! | stamp | the slot |
//! | --- | --- |
//! | a place | is empty, and the put of that place may fill it |
//! | that place with [`FULL`] | holds the value of that place |
//! | the same index in the next lap | was emptied by the take of that place |
//!
//! A put wins its place by moving `tail` on. It then owns the slot until it stamps it. A take does the same at `head`.
//! So each of the two words is written by one side only, and a slot's stamp publishes its value.
//!
//! The lap does not wrap around in the life of a program. So a thread that was delayed never takes a new place for its
//! old one (ABA).
//!
//! # The front, and how it is shut
//!
//! The lowest bit of `head` and `tail` is [`SHUT`]. The holder of the channel's lock sets it, in the first word by a
//! read-modify-write. An attempt to move a word on expects the bit to be clear, so from then on none succeeds. The
//! words stand still until the bit is cleared, and the number of stored values is exact. Puts and takes that won their
//! places earlier may still be about to stamp their slots. The holder of the lock waits for those when it comes to
//! their slots. They are a few steps from the stamp and wait for no other thread.
//!
//! A request that waits finds the ring full or empty. Then the second word needs only a store ([`shut_after`]). Once a
//! full ring is shut for takes, no put can move `tail` on. Once an empty ring is shut for puts, no take can move `head`
//! on.
//!
//! There is no separate "has waiters" word, and no fence. A request registers where it can be answered: a put at `head`,
//! a take at `tail`. Registering and publishing are both read-modify-writes of that word, so one of the two comes first.
//! Where permits hold room, the front stays shut, and nothing is published without the lock.
//!
//! # Orders
//!
//! * Stamps are stored with release and read with acquire. That hands a value to its take, and a slot to its next put.
//! * Moving a word on releases. Reading a word acquires where an answer follows from it. "Full" is told from `tail`
//!   first and `head` second. A thread that has read a `tail` must not read a `head` older than the one that the thread
//!   which moved `tail` there had seen. Otherwise it would answer "full" for a queue that never was full. "Empty" is
//!   told the same way with the two exchanged. A thread that wins a place has read its slot's stamp, which orders all
//!   that the word would.
//! * Setting [`SHUT`] acquires, so the holder of the lock knows all that the threads knew which moved the words. While
//!   both words are shut it alone changes them, by plain stores ([`set`]). A word that no thread can move is
//!   loaded with acquire, and stored in the same way.
//!
//! Source: Vyukov's bounded queue, with the laps of crossbeam's `ArrayQueue`.

use std::ops::Deref;

use super::super::cell::{Cell, drain};
use super::super::front::Quick;
use super::super::pace::{Pace, SharedPace, Side};
use super::padded::Padded;
use super::queue::{Ends, set};
use crate::spin::Spin;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::is_taken_apart;

/// In `head` and `tail`: the front is shut.
const SHUT: u64 = 1;
/// In a stamp: there is a value.
const FULL: u64 = 1;
/// From one place to the next.
const STEP: u64 = 2;

/// The most values of a ring, and its most bytes. All slots are allocated when the ring is made.
const MOST: usize = 1 << 16;
const MOST_BYTES: usize = 1 << 24;
/// The most bytes of a slot, because each slot is built on the stack.
const MOST_BYTES_OF_ONE: usize = 1 << 16;

struct Slot<T> {
    stamp: AtomicU64,
    cell: Cell<T>,
}

impl<T> Slot<T> {
    /// Stores the value of a place.
    ///
    /// # Safety
    /// The stamp was the place, and the caller has won it. So no other thread touches the slot until it is stamped.
    #[inline]
    unsafe fn fill(&self, place: u64, value: T) {
        // SAFETY: the caller has the slot for itself, and it is empty.
        unsafe { self.cell.write(value) };
        self.stamp.store(place | FULL, Ordering::Release);
    }

    /// Moves the value out, and stamps the slot with the place `next`.
    ///
    /// # Safety
    /// The stamp was that of a value, and the caller has won its place. So no other thread touches the slot until it is
    /// stamped.
    #[inline]
    unsafe fn vacate(&self, next: u64) -> T {
        // SAFETY: the caller has the slot for itself, and the stamp published the value.
        let value = unsafe { self.cell.read() };
        self.stamp.store(next, Ordering::Release);
        value
    }
}

/// Reads the word of the other end, to find out that the queue is full or empty.
///
/// By the memory model a load may return an old value. That is enough for a caller that retries or asks under the lock.
/// A read-modify-write returns the current value. If that fits the value of the caller's own end read earlier, both
/// were true at one moment.
///
/// Do not weaken the order. A compiler may turn a read-modify-write that changes nothing into a fence and a load. The
/// fence keeps that load behind the read of the caller's own end.
#[inline]
pub(super) fn read<const SURE: bool>(word: &AtomicU64) -> u64 {
    if SURE {
        word.fetch_or(0, Ordering::AcqRel)
    } else {
        word.load(Ordering::Relaxed)
    }
}

/// What a take at the place `head` answers when its slot shows no value. The two words alone tell whether the queue is
/// empty. `None`: it is not empty, so another thread is about to stamp the slot, or has taken from it.
///
/// At a shut `tail` it must not answer "empty": [`set`] relies on that.
#[inline]
pub(super) fn nothing_at<T>(head: u64, tail: u64) -> Option<Quick<T, ()>> {
    if tail & !SHUT != head {
        None
    } else if tail & SHUT == 0 {
        Some(Quick::Unable(()))
    } else {
        // The front is shut for puts alone, so the channel may be closed. The answer is under the lock.
        Some(Quick::Ask(()))
    }
}

/// Shuts the front at one end, after the other. `limit` is the farthest that the other end lets `word` move: the slot at
/// that place is in use for a put, or has no value for a take. So at `limit` no other thread moves it.
///
/// Later the holder of the lock may use that slot. It shuts the word before it stamps the slot, so a thread that sees the
/// stamp finds the word shut.
///
/// The store does not acquire what a thread knew that read this word to be told "full" or "empty". No thread was: "full"
/// is told at the `head` of a full ring, and `tail` alone is stored there. For an empty one it is the other way round.
#[inline]
fn shut_after(word: &AtomicU64, limit: u64) {
    if word.load(Ordering::Acquire) == limit {
        set(word, limit | SHUT);
    } else {
        word.fetch_or(SHUT, Ordering::Acquire);
    }
}

/// One end of the ring: its word, and how its side waits. That side alone writes both, at puts or at takes.
struct End {
    word: AtomicU64,
    pace: SharedPace,
}

impl End {
    fn new() -> Padded<Self> {
        Padded::new(End {
            word: AtomicU64::new(0),
            pace: SharedPace::new(),
        })
    }
}

impl Deref for End {
    type Target = AtomicU64;

    #[inline]
    fn deref(&self) -> &AtomicU64 {
        &self.word
    }
}

pub(super) struct Ring<T> {
    /// Where the next value is taken.
    head: Padded<End>,
    /// Where the next value is put.
    tail: Padded<End>,
    slots: Box<[Slot<T>]>,
    /// Distance from a place to the same slot in the next lap. A power of two, so that a place splits into lap and
    /// index.
    lap: u64,
}

impl<T> Ring<T> {
    /// Whether a ring may have room for `capacity` values.
    pub(super) fn is_made_for(capacity: usize) -> bool {
        let bytes = size_of::<Slot<T>>();
        capacity <= MOST
            && bytes <= MOST_BYTES_OF_ONE
            && capacity.saturating_mul(bytes) <= MOST_BYTES
    }

    /// A ring with room for `capacity` values, at least one.
    pub(super) fn new(capacity: usize) -> Self {
        let slot = |index| Slot {
            stamp: AtomicU64::new(index as u64 * STEP),
            cell: Cell::new(),
        };
        Ring {
            head: End::new(),
            tail: End::new(),
            slots: (0..capacity).map(slot).collect(),
            lap: (capacity as u64 * STEP).next_power_of_two(),
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    fn index(&self, place: u64) -> usize {
        ((place & (self.lap - 1)) / STEP) as usize
    }

    /// The place after `place`. Its index is passed, since computing it again would stand between the look at the stamp and
    /// the exchange.
    #[inline]
    fn after(&self, place: u64, index: usize) -> u64 {
        if index + 1 < self.slots.len() {
            place + STEP
        } else {
            // The first place of the next lap.
            (place & !(self.lap - 1)).wrapping_add(self.lap)
        }
    }

    /// Moves a word on from `place` with its index, if it still stands there and the front is open. One of the competing
    /// threads succeeds.
    #[inline]
    fn win(&self, word: &AtomicU64, place: u64, index: usize) -> bool {
        let after = self.after(place, index);
        word.compare_exchange(place, after, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// Puts in one attempt. Fails where another thread interferes, the front is shut, or the slot is in use.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn offer_at_once(&self, value: T) -> Result<(), T> {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail & SHUT == 0 {
            let index = self.index(tail);
            let slot = &self.slots[index];
            if slot.stamp.load(Ordering::Acquire) == tail && self.win(&self.tail, tail, index) {
                // SAFETY: the stamp said that the slot is empty and this place's, and only one put wins it.
                unsafe { slot.fill(tail, value) };
                return Ok(());
            }
        }
        Err(value)
    }

    /// Takes in one attempt. Fails where another thread interferes, the front is shut, or the slot has no value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn poll_at_once(&self) -> Option<T> {
        let head = self.head.load(Ordering::Relaxed);
        if head & SHUT == 0 {
            let index = self.index(head);
            let slot = &self.slots[index];
            if slot.stamp.load(Ordering::Acquire) == head | FULL
                && self.win(&self.head, head, index)
            {
                // SAFETY: the stamp said that this place's value is there, and only one take wins it.
                return Some(unsafe { slot.vacate(head.wrapping_add(self.lap)) });
            }
        }
        None
    }

    /// Puts while the front is open, after [`Ring::offer_at_once`] has failed.
    #[cold]
    #[inline(never)]
    pub(super) fn offer<const SURE: bool>(&self, value: T) -> Quick<(), T> {
        let mut spin = Spin::among::<Slot<T>>(self.capacity());
        loop {
            let tail = self.tail.load(Ordering::Acquire);
            if tail & SHUT != 0 {
                return Quick::Ask(value);
            }
            let index = self.index(tail);
            let slot = &self.slots[index];
            if slot.stamp.load(Ordering::Acquire) == tail {
                if self.win(&self.tail, tail, index) {
                    // SAFETY: as in `offer_at_once`.
                    unsafe { slot.fill(tail, value) };
                    return Quick::Done(());
                }
            } else if self.is_full_at::<SURE>(tail) {
                return Quick::Unable(value);
            }
            // Another thread has moved `tail` on, or is about to stamp the slot.
            spin.snooze();
        }
    }

    /// Whether the place `tail` is one lap ahead of `head`. The two words alone tell this. It does not matter whether
    /// the last take from that slot has stamped it yet.
    #[inline]
    fn is_full_at<const SURE: bool>(&self, tail: u64) -> bool {
        let head = read::<SURE>(&self.head) & !SHUT;
        head.wrapping_add(self.lap) == tail
    }

    /// Whether another attempt to put may succeed. A thread that looks again and again at a word takes its line from the
    /// other side, at each operation of that side. So this looks at the slot alone, and not at `head`. It says no while a
    /// take is about to stamp that slot, though there is room.
    #[inline]
    pub(super) fn may_put(&self) -> bool {
        let tail = self.tail.load(Ordering::Relaxed);
        tail & SHUT != 0 || self.stamp(tail) == tail
    }

    /// The same for a take, without a look at `tail`.
    #[inline]
    pub(super) fn may_take(&self) -> bool {
        let head = self.head.load(Ordering::Relaxed);
        head & SHUT != 0 || self.stamp(head) == head | FULL
    }

    /// The stamp of a place's slot, for a guess.
    #[inline]
    fn stamp(&self, place: u64) -> u64 {
        self.slots[self.index(place)].stamp.load(Ordering::Relaxed)
    }

    #[inline]
    fn end(&self, side: Side) -> &End {
        match side {
            Side::Puts => &self.tail,
            Side::Takes => &self.head,
        }
    }

    /// How a put or a take waits before it stands in line.
    #[inline]
    pub(super) fn pace(&self, side: Side) -> Pace {
        self.end(side).pace.get()
    }

    /// Adapts the pace after a put or take that has waited and is done.
    ///
    /// The other side is about to write its word and the next slot, and to read them costs both sides a cache line. So
    /// neither is read where the first turn was not enough, as in ping-pong. The word is read only if the slot says that
    /// another put or take need not wait, or if the front is shut.
    pub(super) fn adapt_pace(&self, side: Side, in_first_turn: bool) {
        let room = self.capacity();
        if !Pace::suits(room) {
            return;
        }
        self.end(side).pace.change(|pace| {
            if !in_first_turn {
                return pace.shorten();
            }
            let more = match side {
                Side::Puts if self.may_put() => room - self.len(),
                Side::Takes if self.may_take() => self.len(),
                _ => 0,
            };
            pace.adapt(1 + more, room);
        });
    }

    /// Whether the front is open and a put would find no room. Does not look at the slots.
    #[inline]
    pub(super) fn seems_full(&self) -> bool {
        let tail = self.tail.load(Ordering::Relaxed);
        tail & SHUT == 0 && self.is_full_at::<false>(tail)
    }

    /// Whether the front is open and a take would find no value. Does not look at the slots.
    #[inline]
    pub(super) fn seems_empty(&self) -> bool {
        let head = self.head.load(Ordering::Relaxed);
        head & SHUT == 0 && self.tail.load(Ordering::Relaxed) == head
    }

    /// Takes while the front is open, after [`Ring::poll_at_once`] has failed.
    #[cold]
    #[inline(never)]
    pub(super) fn poll<const SURE: bool>(&self) -> Quick<T, ()> {
        let mut spin = Spin::among::<Slot<T>>(self.capacity());
        loop {
            let head = self.head.load(Ordering::Acquire);
            if head & SHUT != 0 {
                return Quick::Ask(());
            }
            let index = self.index(head);
            let slot = &self.slots[index];
            if slot.stamp.load(Ordering::Acquire) == head | FULL {
                if self.win(&self.head, head, index) {
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
        if ends.puts && ends.takes {
            self.shut_both();
        } else if ends.puts {
            self.tail.fetch_or(SHUT, Ordering::Acquire);
        } else if ends.takes {
            self.head.fetch_or(SHUT, Ordering::Acquire);
        }
    }

    /// Of a full ring only `head` can move, so it is shut first, and `tail` of any other. Whether it is full is a guess
    /// here, and [`shut_after`] decides.
    fn shut_both(&self) {
        if self.is_full() {
            let head = self.head.fetch_or(SHUT, Ordering::Acquire);
            shut_after(&self.tail, head.wrapping_add(self.lap));
        } else {
            let tail = self.tail.fetch_or(SHUT, Ordering::Acquire);
            shut_after(&self.head, tail);
        }
    }

    /// Opens the front at these ends. The caller holds the channel's lock and has shut them.
    pub(super) fn open(&self, ends: Ends) {
        for (word, opens) in [(&self.tail, ends.puts), (&self.head, ends.takes)] {
            if opens {
                let place = word.load(Ordering::Relaxed);
                set(word, place & !SHUT);
            }
        }
    }

    /// Whether there is no room. Exact while the front is shut.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.is_full_at::<false>(self.tail.load(Ordering::Relaxed) & !SHUT)
    }

    /// The number of stored values. Exact while the front is shut, and otherwise a guess from 0 to the room.
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

    /// Puts. The caller holds the channel's lock and has shut the front, and there is room.
    pub(super) fn push(&self, value: T) {
        let tail = self.tail.load(Ordering::Relaxed) & !SHUT;
        let index = self.index(tail);
        let slot = &self.slots[index];
        let mut spin = Spin::new();
        while slot.stamp.load(Ordering::Acquire) != tail {
            spin.snooze();
        }
        // SAFETY: the stamp says that the slot is empty and belongs to this place. While the front is shut, only the
        // holder of the lock moves `tail` on.
        unsafe { slot.fill(tail, value) };
        set(&self.tail, self.after(tail, index) | SHUT);
    }

    /// Takes. The caller holds the channel's lock and has shut the front.
    pub(super) fn pop(&self) -> Option<T> {
        if is_taken_apart() {
            return None;
        }
        let head = self.head.load(Ordering::Relaxed) & !SHUT;
        if self.tail.load(Ordering::Relaxed) & !SHUT == head {
            return None;
        }
        let index = self.index(head);
        let slot = &self.slots[index];
        let mut spin = Spin::new();
        while slot.stamp.load(Ordering::Acquire) != head | FULL {
            spin.snooze();
        }
        // SAFETY: the stamp says that this place's value is there. While the front is shut, only the holder of the lock
        // moves `head` on.
        let value = unsafe { slot.vacate(head.wrapping_add(self.lap)) };
        set(&self.head, self.after(head, index) | SHUT);
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

    #[cfg(not(any(feature = "loom", feature = "shuttle")))]
    #[test]
    fn waits_are_longer_after_one_that_brought_several() {
        let is_paced = |ring: &Ring<u64>, side| ring.pace(side) != Pace::default();
        // Then there is room for six, or there are six values.
        for (side, other, stored) in [(Side::Puts, Side::Takes, 42), (Side::Takes, Side::Puts, 6)] {
            // Not a power of two, and the first lap is over.
            let ring = Ring::new(48);
            for _ in 0..48 {
                assert!(ring.offer_at_once(0).is_ok() && ring.poll_at_once().is_some());
            }
            assert!((0..stored).all(|_| ring.offer_at_once(0).is_ok()));
            ring.adapt_pace(side, true);
            assert!(is_paced(&ring, side), "six more");
            assert!(!is_paced(&ring, other), "the other side");
            ring.adapt_pace(side, false);
            assert!(!is_paced(&ring, side), "the first turn was not enough");
            ring.adapt_pace(side, true);
            for _ in 0..6 {
                assert!(match side {
                    Side::Puts => ring.offer_at_once(0).is_ok(),
                    Side::Takes => ring.poll_at_once().is_some(),
                });
            }
            ring.adapt_pace(side, true);
            assert!(!is_paced(&ring, side), "no more");
        }
    }

    #[test]
    fn a_ring_is_made_for_so_many_values_and_so_many_bytes() {
        for (capacity, is) in [(1, true), (MOST, true), (MOST + 1, false)] {
            assert_eq!(Ring::<u64>::is_made_for(capacity), is, "{capacity}");
        }
        // With its stamp, a slot is larger than a kibibyte.
        let [fits, too_many] = [(MOST_BYTES >> 10) - 256, MOST_BYTES >> 10];
        assert!(Ring::<[u8; 1 << 10]>::is_made_for(fits));
        assert!(!Ring::<[u8; 1 << 10]>::is_made_for(too_many));
        assert!(!Ring::<[u8; MOST_BYTES_OF_ONE]>::is_made_for(1));
        // The product overflows to a small number of bytes.
        assert!(!Ring::<[u8; 1 << 48]>::is_made_for(MOST));
    }
}
