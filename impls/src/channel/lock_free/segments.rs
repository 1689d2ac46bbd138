//! An unbounded queue for any number of threads: a chain of blocks, each a stretch of slots with stamps.
//!
//! Places count up in 64 bits, also where a pointer has 32: none comes round in the life of a program, so no thread that
//! was held up takes a new place for its own (ABA). A block has [`SLOTS`] of them and one more, the *gap*,
//! at which nothing lies: who wins a block's last slot moves its word onto the gap, sees to the next block, and steps
//! over. Meanwhile others wait at the gap; to them it is a few steps of another thread, as a slot is that is not stamped
//! yet.
//!
//! A slot is stamped with its place and [`FULL`] when its value is there, and with [`FREE`] when it was taken. A take looks at
//! the stamp before it wins the place; a put wins the place first, and then waits until its slot is free.
//!
//! # Blocks are used again, and freed with the queue
//!
//! A thread may look at a slot of a block that others have long left: it has not won anything yet, and finds another
//! place's stamp there. So a block is never freed before the queue is. The take that wins its last slot gives it to the
//! spares, from which puts have their next block; a queue keeps as much memory as it once needed, as a `VecDeque` does.
//! A value of the former use may still be on its way out of its slot: the put that comes there waits until it is free.
//!
//! Spares are a stack on which any take pushes, and from which only the one put pops that stands at the gap. With one
//! who pops nothing can be popped and pushed again behind its back (ABA).
//!
//! Orders, and the front with its [`SHUT`] bits, are as in [`ring`](super::ring). In addition a block is published by the
//! end that goes on to it (release, acquire). To the take that leaves the block before it, `next` is published by the
//! stamp of the last slot, which is stored after it.
//!
//! Source: crossbeam-channel's `list` flavour, with stamps instead of flags, and blocks that stay.

use std::ptr;

use super::super::front::Quick;
use super::cell::{Cell, drain};
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
/// The stamp of a slot without a value; every place's own with a value is odd.
const FREE: u64 = 0;
/// From one place to the next.
const STEP: u64 = 2;
/// Slots of a block. Few where every step is explored or interpreted, so that few values come to the gap, and to a spare.
const SLOTS: usize = if cfg!(any(feature = "loom", feature = "shuttle", miri)) {
    2
} else {
    31
};
/// The most bytes of a block: values of half a kibibyte each. Larger ones are worth a lock.
const MOST_BYTES: usize = 1 << 14;
/// Places of a block: its slots and the gap.
const PLACES: u64 = SLOTS as u64 + 1;

struct Slot<T> {
    stamp: AtomicU64,
    cell: Cell<T>,
}

impl<T> Slot<T> {
    /// Whether that place's value is there.
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
        // SAFETY: who won the place is the only one to fill it.
        unsafe { self.cell.write(value) };
        self.stamp.store(place | FULL, Ordering::Release);
    }

    /// Moves the value of a place out.
    ///
    /// # Safety
    /// It is there, and the caller has won its place.
    #[inline]
    unsafe fn vacate(&self) -> T {
        // SAFETY: who won the place is the only one to take its value.
        let value = unsafe { self.cell.read() };
        self.stamp.store(FREE, Ordering::Release);
        value
    }

    /// Until the block's former use is over here.
    #[cold]
    fn wait_until_free(&self) {
        let mut spin = Spin::among(SLOTS);
        while self.stamp.load(Ordering::Acquire) != FREE {
            spin.snooze();
        }
    }
}

struct Block<T> {
    /// The block after this one, or the spare below it.
    next: AtomicPtr<Block<T>>,
    slots: [Slot<T>; SLOTS],
}

impl<T> Block<T> {
    /// One with nothing in it, made where it lies, so that a stack need not hold all of its slots.
    fn allocate() -> *mut Self {
        let block = Box::into_raw(Box::<Self>::new_uninit()).cast::<Self>();
        // SAFETY: the memory was just allocated for a block, and nobody else knows of it. Each field is written once,
        // none is read before, and so all of it is initialised in the end.
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
    /// The block of that place; read after it (acquire), and of no other place for who wins it then. A newer block is stored
    /// once the end stands at the gap before it: who reads it has seen the end move on, and can win no earlier place. So
    /// no block is newer than the place, and none is older, since the place was stored after its block.
    block: AtomicPtr<Block<T>>,
}

impl<T> End<T> {
    fn new(block: *mut Block<T>) -> Padded<Self> {
        Padded::new(End {
            place: AtomicU64::new(0),
            block: AtomicPtr::new(block),
        })
    }

    /// Moves it on from that place, while the front is open; for one of those who try.
    #[inline]
    fn win(&self, place: u64) -> bool {
        let after = place.wrapping_add(STEP);
        self.place
            .compare_exchange(place, after, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// The place, once it is not the gap: whoever moved it there is about to step over.
    fn settled(&self) -> u64 {
        let mut spin = Spin::among(SLOTS);
        loop {
            let place = self.place.load(Ordering::Acquire);
            if index(place) < SLOTS {
                return place;
            }
            spin.snooze();
        }
    }
}

/// Which slot of its block a place is; [`SLOTS`] for the gap.
#[inline]
fn index(place: u64) -> usize {
    (place / STEP % PLACES) as usize
}

pub(super) struct Segments<T> {
    /// Where the next value is taken.
    head: Padded<End<T>>,
    /// Where the next value is put.
    tail: Padded<End<T>>,
    /// Blocks that were left behind.
    spares: Padded<AtomicPtr<Block<T>>>,
}

// SAFETY: its pointers are to blocks that it has allocated and frees when it is dropped. Through a shared reference
// only their atomics are used, and cells under the contracts that the stamps keep, which move values from thread to thread.
// Without these two lines it would be both for any `T`: the compiler does not see the values behind the pointers.
unsafe impl<T: Send> Send for Segments<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Segments<T> {}

impl<T> Segments<T> {
    /// Whether there may be blocks of such values: the first is there from the beginning, whatever is put.
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

    /// A block of this queue: `block` has to be a pointer that one of its words has held, and not null.
    #[inline]
    fn block(&self, block: *mut Block<T>) -> &Block<T> {
        // SAFETY: every such pointer is to a block that the queue allocated, and frees only when nobody has the queue any
        // more. Nobody has a unique reference to one before.
        unsafe { &*block }
    }

    /// Puts, where nobody else is at it and nothing is in the way.
    #[inline]
    pub(super) fn offer_at_once(&self, value: T) -> Result<(), T> {
        let tail = self.tail.place.load(Ordering::Acquire);
        // The last slot of a block is more work.
        if tail & SHUT == 0 && index(tail) + 1 < SLOTS {
            let block = self.tail.block.load(Ordering::Acquire);
            let slot = &self.block(block).slots[index(tail)];
            if slot.stamp.load(Ordering::Acquire) == FREE && self.tail.win(tail) {
                // SAFETY: who wins a place is the only one to fill it, and its slot was free before; the block is that
                // place's (see `End::block`).
                unsafe { slot.fill(tail, value) };
                return Ok(());
            }
        }
        Err(value)
    }

    /// Takes, where nobody else is at it and nothing is in the way.
    #[inline]
    pub(super) fn poll_at_once(&self) -> Option<T> {
        let head = self.head.place.load(Ordering::Acquire);
        if head & SHUT == 0 && index(head) + 1 < SLOTS {
            let block = self.head.block.load(Ordering::Acquire);
            let slot = &self.block(block).slots[index(head)];
            if slot.has(head) && self.head.win(head) {
                // SAFETY: who wins a place is the only one to take its value, which was there before, as the slot's stamp
                // said with the place's number.
                return Some(unsafe { slot.vacate() });
            }
        }
        None
    }

    /// Puts, while the front is open; for who was not the first to try, or comes to the end of a block.
    #[cold]
    #[inline(never)]
    pub(super) fn offer(&self, value: T) -> Quick<(), T> {
        let mut spin = Spin::among(SLOTS);
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

    /// Whether the front is open, and a take would find no value: told without a look at the slots.
    #[inline]
    pub(super) fn seems_empty(&self) -> bool {
        let head = self.head.place.load(Ordering::Relaxed);
        head & SHUT == 0 && self.tail.place.load(Ordering::Relaxed) == head
    }

    /// Takes, while the front is open; for who was not the first to try, comes to the end of a block, or found no value in
    /// its slot.
    #[cold]
    #[inline(never)]
    pub(super) fn poll<const SURE: bool>(&self) -> Quick<T, ()> {
        let mut spin = Spin::among(SLOTS);
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

    /// Stores the value of a place that was won, and sees to the next block where it is the last of this one.
    #[inline]
    fn fill(&self, block: *mut Block<T>, place: u64, value: T) {
        if index(place) + 1 == SLOTS {
            self.install_after(block);
        }
        let slot = &self.block(block).slots[index(place)];
        if slot.stamp.load(Ordering::Acquire) != FREE {
            slot.wait_until_free();
        }
        // SAFETY: the slot is free, and the place was won, whose block this is (see `End::block`).
        unsafe { slot.fill(place, value) };
    }

    /// Moves the value of a place that was won out of its slot, where it is, and leaves the block where it was the last.
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

    /// Sees to the block after that one and steps over the gap, which nobody else does or passes meanwhile.
    #[cold]
    fn install_after(&self, block: *mut Block<T>) {
        let next = self.spare().unwrap_or_else(Block::allocate);
        self.block(next)
            .next
            .store(ptr::null_mut(), Ordering::Relaxed);
        self.tail.block.store(next, Ordering::Release);
        self.tail.place.fetch_add(STEP, Ordering::Release);
        // Takes come to their gap only once the last slot is stamped, which is after this: so `head` is never ahead of `tail`.
        self.block(block).next.store(next, Ordering::Relaxed);
    }

    /// Has takes go on in the next block, and keeps that one.
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

    /// Called by one thread at a time: that which stands at the tail's gap.
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

    /// Opens it there.
    pub(super) fn open(&self, ends: Ends) {
        if ends.puts {
            self.tail.place.fetch_and(!SHUT, Ordering::Release);
        }
        if ends.takes {
            self.head.place.fetch_and(!SHUT, Ordering::Release);
        }
    }

    /// How many values are stored; exact while the front is shut, whose ends are away from a gap for no more than the
    /// few steps of who won a block's last slot.
    pub(super) fn len(&self) -> usize {
        let (head, tail) = (self.head.settled(), self.tail.settled());
        let places = (tail & !SHUT).wrapping_sub(head & !SHUT) / STEP;
        // Of these, one for each block that ends between the two is a gap.
        let gaps = (index(head) as u64 + places) / PLACES;
        (places - gaps) as usize
    }

    /// Puts, as who holds the channel's lock and has shut the front.
    pub(super) fn push(&self, value: T) {
        let tail = self.tail.settled();
        let block = self.tail.block.load(Ordering::Acquire);
        self.tail.place.fetch_add(STEP, Ordering::Release);
        self.fill(block, tail & !SHUT, value);
    }

    /// Takes, as who holds the channel's lock and has shut the front.
    pub(super) fn pop(&self) -> Option<T> {
        if is_taken_apart() {
            return None;
        }
        let head = self.head.settled() & !SHUT;
        if self.tail.settled() & !SHUT == head {
            return None;
        }
        let block = self.head.block.load(Ordering::Acquire);
        let mut spin = Spin::among(SLOTS);
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
        // Freed after the values have gone, also where the drop of one panics.
        let _blocks = Blocks(self);
        drain(|| self.pop());
    }
}

/// Frees the blocks of a queue that nobody has any more and in which nothing is stored.
struct Blocks<'q, T>(&'q Segments<T>);

impl<T> Drop for Blocks<'_, T> {
    fn drop(&mut self) {
        let Blocks(queue) = self;
        // Both ends are at one block, which has none after it.
        let mut block = queue.head.block.load(Ordering::Relaxed);
        let mut spares = queue.spares.load(Ordering::Relaxed);
        while !block.is_null() {
            // SAFETY: the block was allocated by `Block::allocate`; nobody else has the queue, and each of its blocks is
            // either the one of its ends or a spare, once.
            drop(unsafe { Box::from_raw(block) });
            block = spares;
            if !spares.is_null() {
                spares = queue.block(spares).next.load(Ordering::Relaxed);
            }
        }
    }
}
