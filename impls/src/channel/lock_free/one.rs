//! A queue with room for one value: a single word for both of its ends.
//!
//! In a queue this small, who puts and who takes are at it by turns, and every word that both of them read costs a journey
//! of its cache line. So there is one: how many *turns* there have been, of which the even ones belong to puts and the odd
//! ones to takes, and beside it two bits that say that the front is shut to either. One word tells full and empty,
//! exactly and at one moment, and one read-modify-write shuts both ends.
//!
//! The value lies in one of two slots, by turns as well: a take that has won its turn and not moved the value out yet is not
//! waited for by the put that comes next, but by the one after that. A slot's stamp is the turn that may touch it, and
//! who has won that turn waits until it is: for a few steps of who had the slot before, who may be waiting likewise. The
//! first of such a row waits for nobody.
//!
//! # Orders
//!
//! * Stamps are stored with release and read with acquire: that hands a value to its take, and a slot to its next put.
//!   The latter orders a take's reading before the next writing, which no other step of both does.
//! * The word hands over nothing, and is moved by read-modify-writes only. They acquire and release for the sake of those
//!   who win a turn or are told "full" or "empty": what they know of afterwards is what the one knew who made it so. No
//!   answer follows from a mere load of it, so none has an order.
//!
//! Source: crossfire's `One`, which packs the two counts into a word; with [`ring`](super::ring)'s way of being shut.

use std::array;

use super::super::front::Quick;
use super::cell::{Cell, drain};
use super::padded::Padded;
use super::queue::Ends;
use crate::spin::Spin;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::is_taken_apart;

/// In the word: the front is shut for puts.
const SHUT_PUTS: u64 = 1;
/// In the word: it is shut for takes.
const SHUT_TAKES: u64 = 2;
/// From one turn to the next.
const TURN: u64 = 4;
/// Slots, which are used by turns. Fewer under loom, so that its few operations come to use one again: the orders are those
/// of one slot's stamp. That there are two is explored by shuttle.
const SLOTS: usize = if cfg!(feature = "loom") { 1 } else { 2 };
/// From a slot's put to its next one: each slot has a put and a take.
const LAP: u64 = 2 * SLOTS as u64 * TURN;

/// The most bytes of a queue.
const MOST_BYTES: usize = 1 << 17;

struct Slot<T> {
    /// The turn that may touch the slot.
    stamp: AtomicU64,
    cell: Cell<T>,
}

impl<T> Slot<T> {
    /// Waits until it is that turn's.
    #[inline]
    fn wait_for(&self, turn: u64) {
        if self.stamp.load(Ordering::Acquire) != turn {
            self.wait_longer_for(turn);
        }
    }

    #[cold]
    fn wait_longer_for(&self, turn: u64) {
        let mut spin = Spin::among(1);
        while self.stamp.load(Ordering::Acquire) != turn {
            spin.snooze();
        }
    }
}

pub(super) struct One<T> {
    word: Padded<AtomicU64>,
    slots: [Slot<T>; SLOTS],
}

/// The turn that a word tells.
#[inline]
fn turn(word: u64) -> u64 {
    word & !(SHUT_PUTS | SHUT_TAKES)
}

/// Whether there is a value, and so a take's turn.
#[inline]
fn is_full(word: u64) -> bool {
    word & TURN != 0
}

/// The bits of these ends.
fn bits(ends: Ends) -> u64 {
    let puts = if ends.puts { SHUT_PUTS } else { 0 };
    let takes = if ends.takes { SHUT_TAKES } else { 0 };
    puts | takes
}

impl<T> One<T> {
    /// Whether there may be slots for such values: both are made on the stack, whatever is put.
    pub(super) fn is_made_for_its_values() -> bool {
        size_of::<Self>() <= MOST_BYTES
    }

    pub(super) fn new() -> Self {
        let slot = |index: usize| Slot {
            stamp: AtomicU64::new(index as u64 * 2 * TURN),
            cell: Cell::new(),
        };
        One {
            word: Padded::new(AtomicU64::new(0)),
            slots: array::from_fn(slot),
        }
    }

    #[inline]
    fn slot(&self, turn: u64) -> &Slot<T> {
        &self.slots[(turn % LAP / (2 * TURN)) as usize]
    }

    /// Stores the value of a put's turn.
    ///
    /// # Safety
    /// The caller has won the turn, and nobody else has.
    #[inline]
    unsafe fn fill(&self, turn: u64, value: T) {
        let slot = self.slot(turn);
        slot.wait_for(turn);
        // SAFETY: the slot is this turn's, which is the caller's alone, and it is empty: the take before has
        // stamped it, or nobody has used it yet.
        unsafe { slot.cell.write(value) };
        slot.stamp.store(turn.wrapping_add(TURN), Ordering::Release);
    }

    /// Moves the value of a take's turn out.
    ///
    /// # Safety
    /// The caller has won the turn, and nobody else has.
    #[inline]
    unsafe fn vacate(&self, turn: u64) -> T {
        let slot = self.slot(turn);
        slot.wait_for(turn);
        // SAFETY: the slot is this turn's, which is the caller's alone, and the put before has stamped it with its value.
        let value = unsafe { slot.cell.read() };
        // Its next put comes a lap after the one that was just taken.
        let next = turn.wrapping_sub(TURN).wrapping_add(LAP);
        slot.stamp.store(next, Ordering::Release);
        value
    }

    /// Moves the word on, if it still is that one; for one of those who try.
    #[inline]
    fn win(&self, word: u64) -> Result<u64, u64> {
        let next = word.wrapping_add(TURN);
        self.word
            .compare_exchange(word, next, Ordering::AcqRel, Ordering::Relaxed)
    }

    /// Whether the word is still that one. A load may have found what was there long ago, as far as the memory model
    /// goes: that will do for who looks again, or asks under the lock. A read-modify-write finds what is there now.
    #[inline]
    fn is_still<const SURE: bool>(&self, word: u64) -> Result<(), u64> {
        if !SURE {
            return Ok(());
        }
        match self.word.fetch_or(0, Ordering::AcqRel) {
            now if now == word => Ok(()),
            now => Err(now),
        }
    }

    /// Puts, where nobody else is at it and nothing is in the way.
    #[inline]
    pub(super) fn offer_at_once(&self, value: T) -> Result<(), T> {
        let word = self.word.load(Ordering::Relaxed);
        if word & SHUT_PUTS == 0 && !is_full(word) && self.win(word).is_ok() {
            // SAFETY: who moves the word on wins its turn, and only one can.
            unsafe { self.fill(turn(word), value) };
            return Ok(());
        }
        Err(value)
    }

    /// Takes, where nobody else is at it and nothing is in the way.
    #[inline]
    pub(super) fn poll_at_once(&self) -> Option<T> {
        let word = self.word.load(Ordering::Relaxed);
        if word & SHUT_TAKES == 0 && is_full(word) && self.win(word).is_ok() {
            // SAFETY: as in `offer_at_once`.
            return Some(unsafe { self.vacate(turn(word)) });
        }
        None
    }

    /// Puts, while the front is open; for who was not the first to try, or found no room.
    #[cold]
    #[inline(never)]
    pub(super) fn offer<const SURE: bool>(&self, value: T) -> Quick<(), T> {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word & SHUT_PUTS != 0 {
                return Quick::Ask(value);
            }
            let tried = if is_full(word) {
                match self.is_still::<SURE>(word) {
                    Ok(()) => return Quick::Unable(value),
                    Err(now) => Err(now),
                }
            } else {
                self.win(word)
            };
            match tried {
                Ok(word) => {
                    // SAFETY: who moves the word on wins its turn, and only one can.
                    unsafe { self.fill(turn(word), value) };
                    return Quick::Done(());
                }
                Err(now) => word = now,
            }
        }
    }

    /// Takes, while the front is open; for who was not the first to try, or found no value.
    #[cold]
    #[inline(never)]
    pub(super) fn poll<const SURE: bool>(&self) -> Quick<T, ()> {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word & SHUT_TAKES != 0 {
                return Quick::Ask(());
            }
            let tried = if is_full(word) {
                self.win(word)
            } else if word & SHUT_PUTS != 0 {
                // Shut for puts alone, it may be closed: then it has to be said.
                return Quick::Ask(());
            } else {
                match self.is_still::<SURE>(word) {
                    Ok(()) => return Quick::Unable(()),
                    Err(now) => Err(now),
                }
            };
            match tried {
                // SAFETY: as in `offer`.
                Ok(word) => return Quick::Done(unsafe { self.vacate(turn(word)) }),
                Err(now) => word = now,
            }
        }
    }

    /// Whether the front is open, and a put would find no room.
    #[inline]
    pub(super) fn seems_full(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word & SHUT_PUTS == 0 && is_full(word)
    }

    /// Whether the front is open, and a take would find no value.
    #[inline]
    pub(super) fn seems_empty(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word & (SHUT_PUTS | SHUT_TAKES) == 0 && !is_full(word)
    }

    /// Shuts the front at these ends.
    pub(super) fn shut(&self, ends: Ends) {
        self.word.fetch_or(bits(ends), Ordering::Acquire);
    }

    /// Opens it there.
    pub(super) fn open(&self, ends: Ends) {
        self.word.fetch_and(!bits(ends), Ordering::Release);
    }

    /// How many values are stored; exact while the front is shut.
    pub(super) fn len(&self) -> usize {
        usize::from(is_full(self.word.load(Ordering::Relaxed)))
    }

    /// Puts, as who holds the channel's lock and has shut the front; there is room.
    pub(super) fn push(&self, value: T) {
        let word = self.word.fetch_add(TURN, Ordering::Release);
        // SAFETY: while the front is shut nobody but the holder of the lock moves the word on.
        unsafe { self.fill(turn(word), value) };
    }

    /// Takes, as who holds the channel's lock and has shut the front.
    pub(super) fn pop(&self) -> Option<T> {
        if is_taken_apart() || self.len() == 0 {
            return None;
        }
        let word = self.word.fetch_add(TURN, Ordering::Release);
        // SAFETY: as in `push`.
        Some(unsafe { self.vacate(turn(word)) })
    }
}

impl<T> Drop for One<T> {
    fn drop(&mut self) {
        drain(|| self.pop());
    }
}
