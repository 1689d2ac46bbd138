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

use super::buckets::{Buckets, boxed};
use super::service::{Index, Picked, Progress, Slab, TimerService};

/// A timer service over wheels within wheels.
pub type HierarchicalWheel = TimerService<Wheel>;

/// Bits of a digit.
const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
const WHEELS: usize = u64::BITS.div_ceil(BITS) as usize;

/// What is known of the timers in a slot.
#[derive(Clone, Copy)]
struct Span {
    /// None of them is due before. Exact but for those called off since.
    earliest: u64,
    /// None of them is due after; as late as can be where they are not in the order in which they were armed.
    latest: u64,
}

impl Span {
    const EMPTY: Span = Span {
        earliest: u64::MAX,
        latest: 0,
    };
}

/// Wheels within wheels.
pub struct Wheel {
    slots: Buckets<{ WHEELS * SLOTS }>,
    /// Of each wheel, which slots hold timers.
    held: [u64; WHEELS],
    /// Of each slot.
    spans: Box<[Span; WHEELS * SLOTS]>,
    /// The moment that digits are compared with: all that is due by then has left its slot.
    now: u64,
}

impl Default for Wheel {
    fn default() -> Self {
        Wheel {
            slots: Buckets::new(),
            held: [0; WHEELS],
            spans: boxed(Span::EMPTY),
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
    /// The slot that holds what is due first at `now`, a moment that is not before the one of the wheels. Once there is none
    /// that lies wholly in the past, that moment is moved on to, and its own slot is emptied; but only when something in it is
    /// due, or it would be spread while a storm is still being armed in it.
    fn reached(&mut self, now: u64) -> Option<usize> {
        let begun = self.own(self.now);
        if begun.is_some() {
            return begun;
        }
        let last = wheel_of(self.now ^ now);
        let past = |wheel| match wheel < last {
            true => u64::MAX,
            false => (1 << digit(now, wheel)) - 1,
        };
        let reached = (0..=last).find_map(|wheel| self.first_of(wheel, past(wheel)));
        if reached.is_some() {
            return reached;
        }
        let own = self.own(now);
        if own.is_some_and(|slot| self.spans[slot].earliest > now) {
            return None;
        }
        self.now = now;
        own
    }

    /// The slot that this moment falls into, if it holds timers: there is one such at most, in whichever wheel.
    fn own(&self, moment: u64) -> Option<usize> {
        (0..WHEELS).find_map(|wheel| self.first_of(wheel, 1 << digit(moment, wheel)))
    }

    /// The first of these slots of a wheel that holds timers.
    fn first_of(&self, wheel: usize, slots: u64) -> Option<usize> {
        let held = self.held[wheel] & slots;
        (held != 0).then(|| wheel * SLOTS + held.trailing_zeros() as usize)
    }

    /// The slot of a deadline.
    #[inline(always)]
    fn slot_of(&self, due: u64) -> usize {
        let wheel = wheel_of(due ^ self.now);
        wheel * SLOTS + digit(due, wheel)
    }

    /// Nothing is left in that slot.
    #[inline(always)]
    fn emptied(&mut self, slot: usize) {
        self.held[slot / SLOTS] &= !(1 << (slot % SLOTS));
        self.spans[slot] = Span::EMPTY;
    }
}

impl Index for Wheel {
    #[inline(always)]
    fn insert<T>(&mut self, timers: &mut Slab<T>, key: u32, due: Deadline) {
        let due = due.as_nanos();
        let slot = self.slot_of(due);
        self.held[slot / SLOTS] |= 1 << (slot % SLOTS);
        let span = &mut self.spans[slot];
        span.earliest = span.earliest.min(due);
        span.latest = span.latest.max(due);
        self.slots.push(timers, slot, key);
    }

    #[inline]
    fn insert_again<T>(&mut self, timers: &mut Slab<T>, key: u32, due: Deadline) {
        let slot = self.slot_of(due.as_nanos());
        let last = self.slots.last(slot);
        if last.is_some_and(|last| timers.number(last) > timers.number(key)) {
            self.spans[slot].latest = u64::MAX;
        }
        self.insert(timers, key, due);
    }

    #[inline(always)]
    fn remove<T>(&mut self, timers: &mut Slab<T>, key: u32) {
        let without = self.slots.remove(timers, key);
        if without.is_empty {
            self.emptied(without.bucket);
        } else if without.is_mixed {
            self.spans[without.bucket].latest = u64::MAX;
        }
    }

    #[inline]
    fn next(&self) -> Deadline {
        let begun = self.own(self.now);
        let first = begun.or_else(|| (0..WHEELS).find_map(|wheel| self.first_of(wheel, u64::MAX)));
        Deadline::from_nanos(first.map_or(u64::MAX, |slot| self.spans[slot].earliest))
    }

    fn pick<T>(
        &mut self,
        timers: &mut Slab<T>,
        now: u64,
        mut step: usize,
        picked: &mut Vec<Picked>,
    ) -> Progress {
        while let Some(slot) = self.reached(now) {
            if step == 0 {
                return Progress::Batch;
            }
            // A storm: all are due at one moment, and stand in the order in which they were armed.
            let Span { earliest, latest } = self.spans[slot];
            let is_storm = earliest == latest && latest <= now && latest != u64::MAX;
            while step > 0
                && let Some(key) = self.slots.pop_first(slot)
            {
                step -= 1;
                let due = timers.due(key);
                if due.as_nanos() <= now {
                    picked.push(timers.take_out(key));
                } else {
                    self.insert_again(timers, key, due);
                }
            }
            if self.slots.is_empty(slot) {
                self.slots.clear(slot);
                self.emptied(slot);
            } else if !is_storm {
                return Progress::Looking;
            }
        }
        Progress::Whole
    }
}
