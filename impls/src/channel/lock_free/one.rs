//! A queue with room for one value, with a single word for both of its ends.
//!
//! At capacity 1 the producer and the consumer alternate, so every shared word is a cache miss. So there is only one
//! such word. It tells full and empty exactly and at one moment, and one read-modify-write shuts both ends.
//!
//! # Words
//!
//! The word counts *turns*. Even turns belong to puts, and odd turns to takes.
//!
//! ```text
//!         63                           4    3      2         1           0
//!        +------------------------------+------+------+------------+-----------+
//! word   |  turn                        | slot | full | SHUT_TAKES | SHUT_PUTS |
//!        +------------------------------+------+------+------------+-----------+
//! stamp  |  turn                        | slot | full |     0      |     0     |
//!        +------------------------------+------+------+------------+-----------+
//!
//! turn: bits 2 to 63, counted in steps of TURN.
//! full: the lowest bit of the turn. Set, there is a value, and the next turn is a take's.
//! slot: which of the two slots the turn uses. Under loom there is one slot, and the bit has no meaning of its own.
//! ```
//!
//! The value lies in one of two slots, by turns as well. A take may have won its turn and not moved its value out yet.
//! The next put does not wait for it, because it uses the other slot; the put after that one does.
//!
//! A slot's stamp is the turn that may touch it. The thread that won that turn waits until the stamp is its turn. That
//! takes a few steps of the thread that had the slot before, which may be waiting in the same way. The first thread of
//! such a chain waits for no other.
//!
//! # Orders
//!
//! * Stamps are stored with release and read with acquire. That hands a value to its take, and a slot to its next put.
//!   For the latter there is no other edge: nothing else orders a take's read before the next write of the slot.
//! * The word publishes no value. The read-modify-writes that move it acquire and release for the answers: a thread that
//!   wins a turn, or is told "full" or "empty", then knows all that the thread knew which made it so. No answer follows
//!   from a mere load of the word, so its loads are relaxed.
//! * While both ends are shut, the holder of the lock alone changes the word, by plain stores ([`set`]).
//!
//! Source: crossfire's `One`, which packs the two counts into a word. The front is shut as in [`ring`](super::ring).

use std::array;

use super::super::cell::{Cell, drain};
use super::super::front::Quick;
use super::padded::Padded;
use super::queue::{Ends, set};
use crate::spin::Spin;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::is_taken_apart;

/// In the word: the front is shut for puts.
const SHUT_PUTS: u64 = 1;
/// In the word: the front is shut for takes.
const SHUT_TAKES: u64 = 2;
/// From one turn to the next.
const TURN: u64 = 4;
/// Slots, which are used by turns. One under loom, so that its few operations use a slot again: the orders to check are
/// those of one slot's stamp. Shuttle explores two slots.
const SLOTS: usize = if cfg!(feature = "loom") { 1 } else { 2 };
/// Distance from a slot's put to its next put: each slot has a put and a take.
const LAP: u64 = 2 * SLOTS as u64 * TURN;

/// The most bytes of a queue.
const MOST_BYTES: usize = 1 << 17;

struct Slot<T> {
    /// The turn that may touch the slot.
    stamp: AtomicU64,
    cell: Cell<T>,
}

impl<T> Slot<T> {
    /// Waits until the slot belongs to `turn`.
    #[inline]
    fn wait_for(&self, turn: u64) {
        if self.stamp.load(Ordering::Acquire) != turn {
            self.wait_longer_for(turn);
        }
    }

    #[cold]
    fn wait_longer_for(&self, turn: u64) {
        let mut spin = Spin::new();
        while self.stamp.load(Ordering::Acquire) != turn {
            spin.snooze();
        }
    }
}

pub(super) struct One<T> {
    word: Padded<AtomicU64>,
    slots: [Slot<T>; SLOTS],
}

/// The turn in a word.
#[inline]
fn turn(word: u64) -> u64 {
    word & !(SHUT_PUTS | SHUT_TAKES)
}

/// Whether there is a value, so that the turn is a take's.
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
    /// Whether the queue is small enough for values of `T`. All slots are built on the stack, even if no value is ever
    /// put.
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
    /// The caller has won the turn, and no other thread has.
    #[inline]
    unsafe fn fill(&self, turn: u64, value: T) {
        let slot = self.slot(turn);
        slot.wait_for(turn);
        // SAFETY: the slot belongs to this turn, which only the caller has won. It is empty: the take before has
        // stamped it, or it was never used.
        unsafe { slot.cell.write(value) };
        slot.stamp.store(turn.wrapping_add(TURN), Ordering::Release);
    }

    /// Moves the value of a take's turn out.
    ///
    /// # Safety
    /// The caller has won the turn, and no other thread has.
    #[inline]
    unsafe fn vacate(&self, turn: u64) -> T {
        let slot = self.slot(turn);
        slot.wait_for(turn);
        // SAFETY: the slot belongs to this turn, which only the caller has won. The put before has stamped it with its
        // value.
        let value = unsafe { slot.cell.read() };
        // The slot's next put comes a lap after its last put.
        let next = turn.wrapping_sub(TURN).wrapping_add(LAP);
        slot.stamp.store(next, Ordering::Release);
        value
    }

    /// Moves the word on, if it is still `word`. One of the competing threads succeeds.
    #[inline]
    fn win(&self, word: u64) -> Result<u64, u64> {
        let next = word.wrapping_add(TURN);
        self.word
            .compare_exchange(word, next, Ordering::AcqRel, Ordering::Relaxed)
    }

    /// Whether the word is still `word`. By the memory model a load may have returned an old value. That is enough for
    /// a caller that retries or asks under the lock. With `SURE` a read-modify-write reads the current value.
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

    /// Puts in one attempt. Fails where another thread interferes, the front is shut for puts, or there is no room.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn offer_at_once(&self, value: T) -> Result<(), T> {
        let word = self.word.load(Ordering::Relaxed);
        if word & SHUT_PUTS == 0 && !is_full(word) && self.win(word).is_ok() {
            // SAFETY: the thread that moves the word on has won its turn, and only one can.
            unsafe { self.fill(turn(word), value) };
            return Ok(());
        }
        Err(value)
    }

    /// Takes in one attempt. Fails where another thread interferes, the front is shut for takes, or there is no value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn poll_at_once(&self) -> Option<T> {
        let word = self.word.load(Ordering::Relaxed);
        if word & SHUT_TAKES == 0 && is_full(word) && self.win(word).is_ok() {
            // SAFETY: as in `offer_at_once`.
            return Some(unsafe { self.vacate(turn(word)) });
        }
        None
    }

    /// Puts while the front is open, after [`One::offer_at_once`] has failed.
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
                    // SAFETY: the thread that moves the word on has won its turn, and only one can.
                    unsafe { self.fill(turn(word), value) };
                    return Quick::Done(());
                }
                Err(now) => word = now,
            }
        }
    }

    /// Takes while the front is open, after [`One::poll_at_once`] has failed.
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
                // The front is shut for puts alone, so the channel may be closed. The answer is under the lock.
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

    /// Whether the front is open and a put would find no room.
    #[inline]
    pub(super) fn seems_full(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word & SHUT_PUTS == 0 && is_full(word)
    }

    /// Whether the front is open and a take would find no value.
    #[inline]
    pub(super) fn seems_empty(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        word & (SHUT_PUTS | SHUT_TAKES) == 0 && !is_full(word)
    }

    /// Shuts the front at these ends.
    pub(super) fn shut(&self, ends: Ends) {
        self.word.fetch_or(bits(ends), Ordering::Acquire);
    }

    /// Opens the front at these ends. The caller holds the channel's lock and has shut both.
    pub(super) fn open(&self, ends: Ends) {
        let word = self.word.load(Ordering::Relaxed);
        set(&self.word, word & !bits(ends));
    }

    /// The number of stored values. Exact while the front is shut.
    pub(super) fn len(&self) -> usize {
        usize::from(is_full(self.word.load(Ordering::Relaxed)))
    }

    /// Moves the word on, and returns what it was. The caller holds the channel's lock and has shut the front, or has the
    /// queue for itself.
    fn move_on(&self) -> u64 {
        let word = self.word.load(Ordering::Relaxed);
        set(&self.word, word.wrapping_add(TURN));
        word
    }

    /// Puts. The caller holds the channel's lock and has shut the front, and there is room.
    pub(super) fn push(&self, value: T) {
        let word = self.move_on();
        // SAFETY: while the front is shut, only the holder of the lock moves the word on.
        unsafe { self.fill(turn(word), value) };
    }

    /// Takes. The caller holds the channel's lock and has shut the front.
    pub(super) fn pop(&self) -> Option<T> {
        if is_taken_apart() || self.len() == 0 {
            return None;
        }
        let word = self.move_on();
        // SAFETY: as in `push`.
        Some(unsafe { self.vacate(turn(word)) })
    }
}

impl<T> Drop for One<T> {
    fn drop(&mut self) {
        drain(|| self.pop());
    }
}
