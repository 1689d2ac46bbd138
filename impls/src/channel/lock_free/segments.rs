//! An unbounded queue for any number of threads: a chain of blocks, each an array of slots with stamps.
//!
//! # Words
//!
//! `head` is the place of the next take, and `tail` the place of the next put. A place is a block number and a position
//! in the block. All words have 64 bits, also where a pointer has 32.
//!
//! ```text
//!              63                             6  5          1     0
//!             +--------------------------------+-------------+------+
//! head, tail  |  block number                  |  position   | SHUT |
//!             +--------------------------------+-------------+------+
//! stamp       |  block number                  |  position   | FULL |   the value of that place
//!             +--------------------------------+-------------+------+
//!             |                     0                               |   FREE: no value
//!             +-----------------------------------------------------+
//! ```
//!
//! Positions 0 to 30 are the [`SLOTS`] of a block, and position 31 is the *gap*, which has no slot. Under loom, shuttle
//! and Miri a block has two slots and three positions, so there the fields are a quotient and a remainder, not bits.
//!
//! The block number does not wrap around in the life of a program. So a thread that was delayed never takes a new place
//! for its old one (ABA).
//!
//! The thread that wins a block's last slot moves its word onto the gap, installs the next block, and steps over the
//! gap. Other threads wait at the gap meanwhile. That wait is a few steps of one thread, like the wait for a slot that
//! is not stamped yet.
//!
//! A put stamps its slot with its place and [`FULL`], and a take stamps it with [`FREE`]. A take reads the stamp before
//! it wins the place. A put wins the place first, and then waits until its slot is free.
//!
//! # Blocks are reused, and freed with the queue
//!
//! A thread may look at a slot of a block that the queue has already left. It has won no place yet, and finds the stamp
//! of another place there. So no block is freed before the queue is. The take that wins a block's last slot pushes the
//! block onto the spares, from which puts get their next block. A queue keeps as much memory as it once needed, as a
//! `VecDeque` does. A take of the block's former use may not have moved its value out yet. The put that comes to that
//! slot waits until it is free.
//!
//! The spares are a stack. Any take pushes onto it, and only the one put at the gap pops from it. With a single popping
//! thread no block can be popped and pushed again unnoticed (ABA).
//!
//! Orders, and the front with its [`SHUT`] bits, are as in [`ring`](super::ring), but for two things. The holder of the
//! lock changes `place` by read-modify-writes: the winner of a block's last slot steps over the gap while the word is
//! shut, and a store would lose that step. And the end that goes on to a block publishes it (release, acquire). The stamp
//! of the last slot publishes `next` to the take that leaves the block, because it is stored after `next`.
//!
//! Source: crossbeam-channel's `list` flavour, with stamps instead of flags, and with blocks that are kept.

use std::ptr;

use super::super::cell::{Cell, drain};
use super::super::front::Quick;
use super::padded::Padded;
use super::queue::Ends;
use super::ring::{nothing_at, read};
use crate::spin::Spin;
use crate::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use crate::sync::is_taken_apart;

/// In `head` and `tail`: the front is shut.
const SHUT: u64 = 1;
/// In a stamp: there is a value.
const FULL: u64 = 1;
/// The stamp of a slot without a value. The stamp of a slot with one is odd.
const FREE: u64 = 0;
/// From one place to the next.
const STEP: u64 = 2;
/// Slots of a block. Few under model checkers and Miri, so that few values reach the gap and a spare block.
const SLOTS: usize = if cfg!(any(feature = "loom", feature = "shuttle", miri)) {
    2
} else {
    31
};
/// The most bytes of a block: values of about half a kibibyte. Larger values are stored behind the lock.
const MOST_BYTES: usize = 1 << 14;
/// Positions of a block: its slots and the gap.
const PLACES: u64 = SLOTS as u64 + 1;

struct Slot<T> {
    stamp: AtomicU64,
    cell: Cell<T>,
}

impl<T> Slot<T> {
    /// Whether the value of `place` is there.
    #[inline]
    fn has(&self, place: u64) -> bool {
        self.stamp.load(Ordering::Acquire) == place | FULL
    }

    /// Stores the value of a place.
    ///
    /// # Safety
    /// The slot is free, and the caller has won its place.
    #[inline]
    unsafe fn fill(&self, place: u64, value: T) {
        // SAFETY: only the thread that won the place fills it.
        unsafe { self.cell.write(value) };
        self.stamp.store(place | FULL, Ordering::Release);
    }

    /// Moves the value of a place out.
    ///
    /// # Safety
    /// The value is there, and the caller has won its place.
    #[inline]
    unsafe fn vacate(&self) -> T {
        // SAFETY: only the thread that won the place takes its value.
        let value = unsafe { self.cell.read() };
        self.stamp.store(FREE, Ordering::Release);
        value
    }

    /// Waits until the take of the block's former use has emptied the slot.
    #[cold]
    fn wait_until_free(&self) {
        let mut spin = Spin::new();
        while self.stamp.load(Ordering::Acquire) != FREE {
            spin.snooze();
        }
    }
}

struct Block<T> {
    /// The block after this one; of a spare, the spare below it.
    next: AtomicPtr<Block<T>>,
    slots: [Slot<T>; SLOTS],
}

impl<T> Block<T> {
    /// An empty block, initialised in place on the heap, so that the stack need not hold all of its slots.
    fn allocate() -> *mut Self {
        let block = Box::into_raw(Box::<Self>::new_uninit()).cast::<Self>();
        // SAFETY: the memory was just allocated for a block, and no other thread knows of it. Each field is written
        // once, and none is read before, so the whole block is initialised at the end.
        unsafe {
            (&raw mut (*block).next).write(AtomicPtr::new(ptr::null_mut()));
            for index in 0..SLOTS {
                let slot = &raw mut (*block).slots[index];
                (&raw mut (*slot).stamp).write(AtomicU64::new(FREE));
                (&raw mut (*slot).cell).write(Cell::new());
            }
        }
        block
    }
}

/// One end of the queue.
struct End<T> {
    place: AtomicU64,
    /// The block of `place`. Read it after `place`, with acquire. If the compare-and-swap of `place` then succeeds,
    /// this is the block of the place that was won.
    ///
    /// It is not newer: a block is stored while `place` stands at the gap before it. A thread that reads the new block
    /// has seen `place` move on, so it wins no earlier place. It is not older: `place` leaves the gap after its block
    /// is stored.
    block: AtomicPtr<Block<T>>,
}

impl<T> End<T> {
    fn new(block: *mut Block<T>) -> Padded<Self> {
        Padded::new(End {
            place: AtomicU64::new(0),
            block: AtomicPtr::new(block),
        })
    }

    /// Moves the end on from `place`, if it still stands there and the front is open. One of the competing threads
    /// succeeds.
    #[inline]
    fn win(&self, place: u64) -> bool {
        let after = place.wrapping_add(STEP);
        self.place
            .compare_exchange(place, after, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// The place, once it is not the gap. The thread that moved it onto the gap is about to step over.
    fn settled(&self) -> u64 {
        let mut spin = Spin::new();
        loop {
            let place = self.place.load(Ordering::Acquire);
            if index(place) < SLOTS {
                return place;
            }
            spin.snooze();
        }
    }
}

/// The slot of a place in its block; [`SLOTS`] for the gap.
#[inline]
fn index(place: u64) -> usize {
    (place / STEP % PLACES) as usize
}

pub(super) struct Segments<T> {
    /// Where the next value is taken.
    head: Padded<End<T>>,
    /// Where the next value is put.
    tail: Padded<End<T>>,
    /// Blocks that takes have left, to be reused.
    spares: Padded<AtomicPtr<Block<T>>>,
}

// SAFETY: its pointers are to blocks that it has allocated and frees when it is dropped. Through a shared reference
// only their atomics are used, and their cells under the contracts that the stamps keep. Those move values from thread
// to thread, hence `T: Send`. Without these two lines the compiler would implement both for any `T`, because it does
// not see the values behind the pointers.
unsafe impl<T: Send> Send for Segments<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Segments<T> {}

impl<T> Segments<T> {
    /// Whether blocks of `T` are small enough. The first block is allocated with the queue, even if no value is ever
    /// put.
    pub(super) fn is_made_for_its_values() -> bool {
        size_of::<Block<T>>() <= MOST_BYTES
    }

    pub(super) fn new() -> Self {
        let block = Block::allocate();
        Segments {
            head: End::new(block),
            tail: End::new(block),
            spares: Padded::new(AtomicPtr::new(ptr::null_mut())),
        }
    }

    /// A block of this queue. `block` must be a non-null pointer that one of the queue's words has held.
    #[inline]
    fn block(&self, block: *mut Block<T>) -> &Block<T> {
        // SAFETY: every such pointer is to a block that the queue allocated. The queue frees it only when it is
        // dropped, and makes no unique reference to it before.
        unsafe { &*block }
    }

    /// Puts in one attempt. Fails where another thread interferes, the front is shut, the slot is not free, or it is
    /// the last of its block.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn offer_at_once(&self, value: T) -> Result<(), T> {
        let tail = self.tail.place.load(Ordering::Acquire);
        // The last slot of a block is left to `offer`, which also installs the next block.
        if tail & SHUT == 0 && index(tail) + 1 < SLOTS {
            let block = self.tail.block.load(Ordering::Acquire);
            let slot = &self.block(block).slots[index(tail)];
            if slot.stamp.load(Ordering::Acquire) == FREE && self.tail.win(tail) {
                // SAFETY: only the thread that won the place fills it, and its slot was free before. The block is that
                // of the place (see `End::block`).
                unsafe { slot.fill(tail, value) };
                return Ok(());
            }
        }
        Err(value)
    }

    /// Takes in one attempt. Fails where another thread interferes, the front is shut, there is no value, or the slot
    /// is the last of its block.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn poll_at_once(&self) -> Option<T> {
        let head = self.head.place.load(Ordering::Acquire);
        if head & SHUT == 0 && index(head) + 1 < SLOTS {
            let block = self.head.block.load(Ordering::Acquire);
            let slot = &self.block(block).slots[index(head)];
            if slot.has(head) && self.head.win(head) {
                // SAFETY: only the thread that won the place takes its value. The slot's stamp, with the number of the
                // place, said that the value is there.
                return Some(unsafe { slot.vacate() });
            }
        }
        None
    }

    /// Puts while the front is open, after [`Segments::offer_at_once`] has failed.
    #[cold]
    #[inline(never)]
    pub(super) fn offer(&self, value: T) -> Quick<(), T> {
        let mut spin = Spin::in_unbounded();
        loop {
            let tail = self.tail.place.load(Ordering::Acquire);
            if tail & SHUT != 0 {
                return Quick::Ask(value);
            }
            if index(tail) < SLOTS {
                let block = self.tail.block.load(Ordering::Acquire);
                if self.tail.win(tail) {
                    self.fill(block, tail, value);
                    return Quick::Done(());
                }
            }
            spin.snooze();
        }
    }

    /// Whether the front is open and a take would find no value. Does not look at the slots.
    #[inline]
    pub(super) fn seems_empty(&self) -> bool {
        let head = self.head.place.load(Ordering::Relaxed);
        head & SHUT == 0 && self.tail.place.load(Ordering::Relaxed) == head
    }

    /// Takes while the front is open, after [`Segments::poll_at_once`] has failed.
    #[cold]
    #[inline(never)]
    pub(super) fn poll<const SURE: bool>(&self) -> Quick<T, ()> {
        let mut spin = Spin::in_unbounded();
        loop {
            let head = self.head.place.load(Ordering::Acquire);
            if head & SHUT != 0 {
                return Quick::Ask(());
            }
            if index(head) < SLOTS {
                let block = self.head.block.load(Ordering::Acquire);
                if self.is_there(block, head) {
                    if self.head.win(head) {
                        return Quick::Done(self.vacate(block, head));
                    }
                } else if let Some(answer) = nothing_at(head, read::<SURE>(&self.tail.place)) {
                    return answer;
                }
            }
            spin.snooze();
        }
    }

    /// Whether the value of a place is in its slot.
    #[inline]
    fn is_there(&self, block: *mut Block<T>, place: u64) -> bool {
        let slot = &self.block(block).slots[index(place)];
        slot.has(place)
    }

    /// Stores the value of a place that was won. In the last slot of a block it installs the next block first.
    #[inline]
    fn fill(&self, block: *mut Block<T>, place: u64, value: T) {
        if index(place) + 1 == SLOTS {
            self.install_after(block);
        }
        let slot = &self.block(block).slots[index(place)];
        if slot.stamp.load(Ordering::Acquire) != FREE {
            slot.wait_until_free();
        }
        // SAFETY: the slot is free, the place was won, and this is its block (see `End::block`).
        unsafe { slot.fill(place, value) };
    }

    /// Moves the value of a place that was won out of its slot. After the last slot of a block it leaves the block.
    #[inline]
    fn vacate(&self, block: *mut Block<T>, place: u64) -> T {
        let slot = &self.block(block).slots[index(place)];
        // SAFETY: the stamp said that this place's value is there, and the place was won.
        let value = unsafe { slot.vacate() };
        if index(place) + 1 == SLOTS {
            self.leave(block);
        }
        value
    }

    /// Installs the block after `block`, and steps over the gap. No other thread does so or passes the gap meanwhile.
    #[cold]
    fn install_after(&self, block: *mut Block<T>) {
        let next = self.spare().unwrap_or_else(Block::allocate);
        self.block(next)
            .next
            .store(ptr::null_mut(), Ordering::Relaxed);
        self.tail.block.store(next, Ordering::Release);
        self.tail.place.fetch_add(STEP, Ordering::Release);
        // Takes reach their gap only after the last slot is stamped, which happens after this. So `head` is never ahead
        // of `tail`.
        self.block(block).next.store(next, Ordering::Relaxed);
    }

    /// Moves the takes' end to the next block, and keeps `block` as a spare.
    #[cold]
    fn leave(&self, block: *mut Block<T>) {
        // Stored before the last slot was stamped, which this take has seen.
        let next = self.block(block).next.load(Ordering::Relaxed);
        debug_assert!(!next.is_null(), "the last slot was filled");
        self.head.block.store(next, Ordering::Release);
        self.head.place.fetch_add(STEP, Ordering::Release);
        self.keep(block);
    }

    fn keep(&self, block: *mut Block<T>) {
        let mut top = self.spares.load(Ordering::Relaxed);
        loop {
            self.block(block).next.store(top, Ordering::Relaxed);
            match self.spares.compare_exchange_weak(
                top,
                block,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(other) => top = other,
            }
        }
    }

    /// A spare block. Called by one thread at a time: the one that stands at the tail's gap.
    fn spare(&self) -> Option<*mut Block<T>> {
        let mut top = self.spares.load(Ordering::Acquire);
        while !top.is_null() {
            let below = self.block(top).next.load(Ordering::Relaxed);
            match self.spares.compare_exchange_weak(
                top,
                below,
                Ordering::Acquire,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(top),
                Err(other) => top = other,
            }
        }
        None
    }

    /// Shuts the front at these ends.
    pub(super) fn shut(&self, ends: Ends) {
        if ends.puts {
            self.tail.place.fetch_or(SHUT, Ordering::Acquire);
        }
        if ends.takes {
            self.head.place.fetch_or(SHUT, Ordering::Acquire);
        }
    }

    /// Opens the front at these ends.
    pub(super) fn open(&self, ends: Ends) {
        if ends.puts {
            self.tail.place.fetch_and(!SHUT, Ordering::Release);
        }
        if ends.takes {
            self.head.place.fetch_and(!SHUT, Ordering::Release);
        }
    }

    /// The number of stored values. Exact while the front is shut. Then an end stands at a gap only for the few steps
    /// of the thread that won a block's last slot.
    pub(super) fn len(&self) -> usize {
        let (head, tail) = (self.head.settled(), self.tail.settled());
        let places = (tail & !SHUT).wrapping_sub(head & !SHUT) / STEP;
        // One place is a gap for each block that ends between the two.
        let gaps = (index(head) as u64 + places) / PLACES;
        (places - gaps) as usize
    }

    /// Puts. The caller holds the channel's lock and has shut the front.
    pub(super) fn push(&self, value: T) {
        let tail = self.tail.settled();
        let block = self.tail.block.load(Ordering::Acquire);
        self.tail.place.fetch_add(STEP, Ordering::Release);
        self.fill(block, tail & !SHUT, value);
    }

    /// Takes. The caller holds the channel's lock and has shut the front.
    pub(super) fn pop(&self) -> Option<T> {
        if is_taken_apart() {
            return None;
        }
        let head = self.head.settled() & !SHUT;
        if self.tail.settled() & !SHUT == head {
            return None;
        }
        let block = self.head.block.load(Ordering::Acquire);
        let mut spin = Spin::new();
        while !self.is_there(block, head) {
            spin.snooze();
        }
        self.head.place.fetch_add(STEP, Ordering::Release);
        Some(self.vacate(block, head))
    }
}

impl<T> Drop for Segments<T> {
    fn drop(&mut self) {
        if is_taken_apart() {
            return;
        }
        // The blocks are freed after the values are dropped, also if the drop of a value panics.
        let _blocks = Blocks(self);
        drain(|| self.pop());
    }
}

/// Frees the blocks of a queue that is being dropped and stores no values.
struct Blocks<'q, T>(&'q Segments<T>);

impl<T> Drop for Blocks<'_, T> {
    fn drop(&mut self) {
        let Blocks(queue) = self;
        // Both ends are at the same block, which has no next one.
        let mut block = queue.head.block.load(Ordering::Relaxed);
        let mut spares = queue.spares.load(Ordering::Relaxed);
        while !block.is_null() {
            // SAFETY: the block was allocated by `Block::allocate`. No other thread has the queue. Each of its blocks
            // is either the one at its ends or a spare, and is visited once.
            drop(unsafe { Box::from_raw(block) });
            block = spares;
            if !spares.is_null() {
                spares = queue.block(spares).next.load(Ordering::Relaxed);
            }
        }
    }
}
