//! `hierarchical_wheel`: a service over wheels within wheels, exact to the nanosecond.
//!
//! Eleven wheels of 64 slots. A deadline goes by its first digit, of six bits, that differs from that of the moment up
//! to which all has fired: the wheel is that digit's place, the slot its value. So the slots of one wheel lie within
//! one slot of the next, a word of bits says which of them hold timers, and every deadline of 64 bits has its place
//! without a list for what lies beyond. The first slot of the first wheel that holds any is next, and it knows its
//! earliest deadline: the thread sleeps until that moment exactly, not until a tick. Then the slots that lie wholly in
//! the past fire as they are, and the one slot that the moment falls into is spread over the wheels below: a timer
//! moves a few times in its life, and most, called off before, never.

use flowmeter_harness::sync::Deadline;

use super::lists::Lists;
use super::service::{Index, Picked, Slab, TimerService};

/// A timer service over wheels within wheels.
pub type HierarchicalWheel = TimerService<Wheel>;

/// Bits of a digit.
const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
const WHEELS: usize = u64::BITS.div_ceil(BITS) as usize;

/// What has left its slot and is being looked at.
const LEFT: usize = WHEELS * SLOTS;

/// Wheels within wheels.
pub struct Wheel {
    lists: Lists<{ LEFT + 1 }>,
    /// Of each wheel, which slots hold timers.
    held: [u64; WHEELS],
    /// Of each slot: no timer in it is due before. Exact but for those called off since.
    earliest: Box<[u64]>,
    /// The moment that digits are compared with: all that was due by then has left its slot.
    now: u64,
}

impl Default for Wheel {
    fn default() -> Self {
        Wheel {
            lists: Lists::new(),
            held: [0; WHEELS],
            earliest: vec![u64::MAX; LEFT].into(),
            now: 0,
        }
    }
}

/// The place of the first digit in which two moments differ.
#[inline]
const fn wheel_of(difference: u64) -> usize {
    // Of equal ones the last, as of those that differ in that alone.
    ((difference | 1).ilog2() / BITS) as usize
}

/// A moment's digit there.
#[expect(clippy::cast_possible_truncation, reason = "a digit is less than 64")]
#[inline]
const fn digit(moment: u64, wheel: usize) -> usize {
    (moment >> (wheel * BITS as usize)) as usize % SLOTS
}

impl Wheel {
    /// Has all timers leave that are in these slots of a wheel.
    fn empty<T>(&mut self, timers: &mut Slab<T>, wheel: usize, slots: u64) {
        let mut left = self.held[wheel] & slots;
        self.held[wheel] &= !slots;
        while left != 0 {
            let slot = wheel * SLOTS + left.trailing_zeros() as usize;
            self.lists.splice(timers, slot, LEFT);
            self.earliest[slot] = u64::MAX;
            left &= left - 1;
        }
    }

    /// Moves on to that moment: the slots before it are emptied, and the one that it falls into.
    fn move_to<T>(&mut self, timers: &mut Slab<T>, now: u64) {
        let last = wheel_of(self.now ^ now);
        for wheel in 0..last {
            self.empty(timers, wheel, u64::MAX);
        }
        // The slots up to the moment's own.
        self.empty(timers, last, u64::MAX >> (SLOTS - 1 - digit(now, last)));
        self.now = now;
    }
}

impl Index for Wheel {
    #[inline(always)]
    fn insert<T>(&mut self, timers: &mut Slab<T>, key: u32, due: Deadline) {
        let due = due.as_nanos();
        let wheel = wheel_of(due ^ self.now);
        let digit = digit(due, wheel);
        let slot = wheel * SLOTS + digit;
        self.held[wheel] |= 1 << digit;
        self.earliest[slot] = self.earliest[slot].min(due);
        self.lists.push(timers, slot, key);
    }

    #[inline(always)]
    fn remove<T>(&mut self, timers: &mut Slab<T>, key: u32) {
        if let Some(slot) = self.lists.remove(timers, key)
            && slot != LEFT
        {
            self.held[slot / SLOTS] &= !(1 << (slot % SLOTS));
            self.earliest[slot] = u64::MAX;
        }
    }

    #[inline]
    fn next(&self) -> Deadline {
        let first = self.held.iter().position(|held| *held != 0);
        Deadline::from_nanos(first.map_or(u64::MAX, |wheel| {
            let digit = self.held[wheel].trailing_zeros() as usize;
            self.earliest[wheel * SLOTS + digit]
        }))
    }

    fn pick<T>(
        &mut self,
        timers: &mut Slab<T>,
        now: u64,
        step: usize,
        picked: &mut Vec<Picked>,
    ) -> bool {
        if now > self.now {
            self.move_to(timers, now);
        }
        for _ in 0..step {
            let Some(key) = self.lists.pop(timers, LEFT) else {
                return true;
            };
            let due = timers.due(key);
            if due.as_nanos() <= now {
                picked.push(timers.take_out(key));
            } else {
                self.insert(timers, key, due);
            }
        }
        self.lists.is_empty(LEFT)
    }
}
