//! `hierarchical_wheel`: a service over wheels within wheels, exact to the nanosecond.
//!
//! Eleven wheels of 64 slots. A deadline goes by its first digit, of six bits, that differs from that of the moment up
//! to which all has fired: the wheel is that digit's place, the slot its value. So the slots of one wheel lie within
//! one slot of the next, a word of bits says which of them hold timers, and every deadline of 64 bits has its place
//! without a list for what lies beyond. The first slot of the first wheel that holds any is next, and it knows its
//! earliest deadline: the thread sleeps until that moment exactly, not until a tick. Then the slots that lie wholly in
//! the past fire as they are, and the one slot that the moment falls into is spread over the wheels below: a timer
//! moves a few times in its life, and most, called off before, never. Slots are looked at where they are, as many timers
//! of one at a time as a step has: until the past ones are empty, digits are compared with the moment before.

use flowmeter_harness::sync::Deadline;

use super::buckets::Buckets;
use super::service::{Index, Picked, Slab, TimerService};

/// A timer service over wheels within wheels.
pub type HierarchicalWheel = TimerService<Wheel>;

/// Bits of a digit.
const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
const WHEELS: usize = u64::BITS.div_ceil(BITS) as usize;

/// Wheels within wheels.
pub struct Wheel {
    slots: Buckets<{ WHEELS * SLOTS }>,
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
            slots: Buckets::new(),
            held: [0; WHEELS],
            earliest: vec![u64::MAX; WHEELS * SLOTS].into(),
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
    /// A slot that holds what may be due at `now`, a moment that is not before the one of the wheels; once there is none that
    /// lies wholly in the past, that moment is moved on to, and its own slot is left.
    fn reached(&mut self, now: u64) -> Option<usize> {
        let last = wheel_of(self.now ^ now);
        let past = |wheel| match wheel < last {
            true => u64::MAX,
            false => (1 << digit(now, wheel)) - 1,
        };
        let reached = (0..=last).find_map(|wheel| self.first_of(wheel, past(wheel)));
        if reached.is_some() {
            return reached;
        }
        self.now = now;
        (0..WHEELS).find_map(|wheel| self.first_of(wheel, 1 << digit(now, wheel)))
    }

    /// The first of these slots of a wheel that holds timers.
    fn first_of(&self, wheel: usize, slots: u64) -> Option<usize> {
        let held = self.held[wheel] & slots;
        (held != 0).then(|| wheel * SLOTS + held.trailing_zeros() as usize)
    }

    /// Nothing is left in that slot.
    #[inline(always)]
    fn is_empty_now(&mut self, slot: usize) {
        self.held[slot / SLOTS] &= !(1 << (slot % SLOTS));
        self.earliest[slot] = u64::MAX;
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
        self.slots.push(timers, slot, key);
    }

    #[inline(always)]
    fn remove<T>(&mut self, timers: &mut Slab<T>, key: u32) {
        if let Some(slot) = self.slots.remove(timers, key) {
            self.is_empty_now(slot);
        }
    }

    #[inline]
    fn next(&self) -> Deadline {
        let first = (0..WHEELS).find_map(|wheel| self.first_of(wheel, u64::MAX));
        Deadline::from_nanos(first.map_or(u64::MAX, |slot| self.earliest[slot]))
    }

    fn pick<T>(
        &mut self,
        timers: &mut Slab<T>,
        now: u64,
        mut step: usize,
        picked: &mut Vec<Picked>,
    ) -> bool {
        while let Some(slot) = self.reached(now) {
            if step == 0 {
                return false;
            }
            while step > 0
                && let Some(key) = self.slots.pop(slot)
            {
                step -= 1;
                let due = timers.due(key);
                if due.as_nanos() <= now {
                    picked.push(timers.take_out(key));
                } else {
                    self.insert(timers, key, due);
                }
            }
            if self.slots.is_empty(slot) {
                self.is_empty_now(slot);
                self.slots.trim(slot);
            }
        }
        true
    }
}
