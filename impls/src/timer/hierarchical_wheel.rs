//! `hierarchical_wheel`: a service over wheels within wheels, exact to the nanosecond.
//!
//! There are eleven wheels of 64 slots, one wheel for each digit of six bits of a deadline:
//!
//! ```text
//!             63..60    59..54   ...   11..6     5..0
//!            +---------+--------+-----+--------+--------+
//! deadline   | wheel 10| wheel 9| ... | wheel 1| wheel 0|
//!            +---------+--------+-----+--------+--------+
//! ```
//!
//! A deadline is compared with `now`, the moment up to which all timers have fired. The highest digit in which they
//! differ selects the wheel, and the deadline's digit there selects the slot. So the slots of one wheel lie within one
//! slot of the next, and every deadline of 64 bits has a slot without an overflow list. For each wheel one word
//! (`held`) has a bit for each slot that holds timers. The first such slot of the lowest such wheel is next. It knows
//! its earliest deadline, and the thread sleeps until exactly that moment, not until a tick.
//!
//! Slots that lie wholly in the past then fire as they are. The one slot that contains the present moment is spread
//! over the wheels below. A timer moves a few times in its life, and most are cancelled before they move at all. A slot
//! is emptied in place, at most a step of timers at a time. Until the past slots are empty, `now` stays at the moment
//! before.

use flowmeter_harness::sync::Deadline;

use super::buckets::{Buckets, boxed};
use super::service::{Index, Picked, Progress, Slab, TimerService};

/// A timer service over wheels within wheels.
pub type HierarchicalWheel = TimerService<Wheel>;

/// Bits in a digit.
const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
const WHEELS: usize = u64::BITS.div_ceil(BITS) as usize;

/// Bounds for the timers in a slot.
#[derive(Clone, Copy)]
struct Span {
    /// No timer in it is due before. Exact unless timers were cancelled since.
    earliest: u64,
    /// No timer in it is due after. The maximum where the timers are not in the order in which they were armed.
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
    /// For each wheel, the slots that hold timers: bit n for slot n.
    held: [u64; WHEELS],
    /// For each slot.
    spans: Box<[Span; WHEELS * SLOTS]>,
    /// The moment that deadlines are compared with. All timers due by then have left their slots.
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

/// The place of the highest digit in which two moments differ.
#[inline]
const fn wheel_of(difference: u64) -> usize {
    // Equal moments count as differing in the lowest digit.
    ((difference | 1).ilog2() / BITS) as usize
}

/// A moment's digit in that wheel.
#[expect(clippy::cast_possible_truncation, reason = "a digit is less than 64")]
#[inline]
const fn digit(moment: u64, wheel: usize) -> usize {
    (moment >> (wheel * BITS as usize)) as usize % SLOTS
}

impl Wheel {
    /// The slot of the timers that are due first at `now`, which is not before `self.now`. Once no slot lies wholly in
    /// the past, `self.now` advances to `now`, and the slot that contains it is emptied. It advances only when a timer
    /// in that slot is due: otherwise the slot would be spread while a burst is still being armed in it.
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

    /// The slot that contains this moment, if it holds timers. At most one slot in all wheels does.
    fn own(&self, moment: u64) -> Option<usize> {
        (0..WHEELS).find_map(|wheel| self.first_of(wheel, 1 << digit(moment, wheel)))
    }

    /// The first slot of a wheel that holds timers, among those in the mask `slots`.
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

    /// Marks that slot as empty.
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
            // A burst: all are due at one moment, and stand in the order in which they were armed.
            let Span { earliest, latest } = self.spans[slot];
            let is_storm = earliest == latest && latest <= now && latest != u64::MAX;
            while step > 0 {
                let Some(key) = self.slots.pop_first(slot) else {
                    break;
                };
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
