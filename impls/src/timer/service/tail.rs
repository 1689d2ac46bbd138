//! The spin tail: the thread is awake when the deadline comes, instead of being woken then.
//!
//! A system wakes a thread some tens of microseconds after the requested moment. A thread that asks to be woken that
//! much sooner, and spins on the clock until its deadline, is late by less than a microsecond. It pays with a core. It
//! learns how much sooner from how late it was woken before. It does not spin where other threads want the core: never
//! on a machine with one core, nor for a while after it was preempted while spinning.

/// How much sooner to be woken at most, in nanoseconds. A machine that wakes threads later than this is busy, and
/// longer spinning would make it busier.
const MOST: u64 = 200_000;
/// How much the lead grows after a wake-up that came later, and shrinks after one that came sooner, in nanoseconds.
/// They balance where nine of ten wake-ups come in time.
const GROWS: u64 = 9_000;
const SHRINKS: u64 = 1_000;
/// Two clock readings further apart than this, in nanoseconds, show that the thread was preempted.
const PUT_ASIDE: u64 = 20_000;
/// The largest number of wake-ups without spinning.
const LONGEST_REST: u32 = 1_024;

/// What a thread has learnt about its wake-ups.
#[derive(Debug)]
pub(super) struct Tail {
    /// How much sooner to be woken, in nanoseconds.
    lead: u64,
    /// The remaining wake-ups without spinning.
    rest: u32,
    /// The length of the next rest.
    next_rest: u32,
}

impl Tail {
    pub(super) fn new() -> Self {
        Tail {
            lead: MOST / 4,
            rest: 0,
            next_rest: 1,
        }
    }

    /// How much sooner than its deadline the thread is to be woken this time, in nanoseconds.
    pub(super) fn lead(&mut self) -> u64 {
        if self.rest > 0 {
            self.rest -= 1;
            return 0;
        }
        self.lead
    }

    /// Records a wake-up that came so many nanoseconds later than asked for.
    pub(super) fn woken(&mut self, late: u64) {
        self.lead = if late > self.lead {
            (self.lead + GROWS).min(MOST)
        } else {
            self.lead.saturating_sub(SHRINKS)
        };
    }

    /// Records a spin until the deadline, with the longest gap between two clock readings in nanoseconds.
    pub(super) fn looked(&mut self, apart: u64) {
        if apart > PUT_ASIDE {
            self.rest = self.next_rest;
            self.next_rest = (2 * self.next_rest).min(LONGEST_REST);
        } else {
            self.next_rest = (self.next_rest / 2).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wake-ups are late by 1 to 100 us, uniformly. The learnt lead covers nine of ten.
    #[test]
    fn nine_of_ten_come_in_time() {
        let mut tail = Tail::new();
        // Each of a hundred values, in an order that goes up and down.
        let late = |turn: u64| (turn * 37 % 100 + 1) * 1_000;
        for turn in 0..10_000 {
            tail.woken(late(turn));
        }
        let in_time = (0..1_000).filter(|turn| {
            let in_time = late(*turn) <= tail.lead();
            tail.woken(late(*turn));
            in_time
        });
        let in_time = in_time.count();
        assert!((850..=950).contains(&in_time), "{in_time} of 1000");
    }

    #[test]
    fn a_machine_that_wakes_late_is_not_looked_at_for_long() {
        let mut tail = Tail::new();
        for _ in 0..1_000 {
            tail.woken(10_000_000);
        }
        assert_eq!(tail.lead(), MOST);
    }

    #[test]
    fn a_thread_put_aside_goes_without_for_longer_each_time() {
        let mut tail = Tail::new();
        let mut rests = Vec::new();
        for _ in 0..12 {
            tail.looked(PUT_ASIDE + 1);
            let mut rest = 0;
            while tail.lead() == 0 {
                rest += 1;
            }
            rests.push(rest);
        }
        assert_eq!(rests[..4], [1, 2, 4, 8]);
        assert_eq!(rests.last(), Some(&LONGEST_REST));
        for _ in 0..10 {
            tail.looked(PUT_ASIDE);
        }
        tail.looked(PUT_ASIDE + 1);
        assert_eq!((tail.lead(), tail.lead()), (0, tail.lead));
    }
}
