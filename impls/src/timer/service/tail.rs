//! The spin tail: being awake when the deadline comes, instead of being woken then.
//!
//! A system wakes a thread some tens of microseconds after the moment that it was asked for. A thread that asks for so
//! much sooner, and looks at the clock until its deadline, is late by less than one; a core is what it pays with. How much
//! sooner, it learns from how late it was woken before. And it goes without where others want the core: always where there
//! is but one, and for a while after it was put aside while it looked.

/// How much sooner to be woken at most, nanoseconds: a machine that wakes later than this is busy, and a longer look would
/// make it busier.
const MOST: u64 = 200_000;
/// By how much the answer grows when a wake-up came later, nanoseconds, and by how much it shrinks when it came
/// sooner: where they balance, nine of ten wake-ups come in time.
const GROWS: u64 = 9_000;
const SHRINKS: u64 = 1_000;
/// Two looks at the clock that lie further apart, nanoseconds: somebody else had the core.
const PUT_ASIDE: u64 = 20_000;
/// For how many wake-ups to go without at most.
const LONGEST_REST: u32 = 1_024;

/// What a thread has learnt about being woken.
#[derive(Debug)]
pub(super) struct Tail {
    /// How much sooner to be woken, nanoseconds.
    lead: u64,
    /// For how many wake-ups to go without.
    rest: u32,
    /// How long the next rest would be.
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

    /// How much sooner than its deadline the thread is to be woken this time, nanoseconds.
    pub(super) fn lead(&mut self) -> u64 {
        if self.rest > 0 {
            self.rest -= 1;
            return 0;
        }
        self.lead
    }

    /// It was woken so much later than it had asked for, nanoseconds.
    pub(super) fn woken(&mut self, late: u64) {
        self.lead = if late > self.lead {
            (self.lead + GROWS).min(MOST)
        } else {
            self.lead.saturating_sub(SHRINKS)
        };
    }

    /// It looked at the clock until its deadline, and two looks lay this far apart at most, nanoseconds.
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

    /// Of wake-ups that are late by 1 to 100 us, each as often, nine of ten come within what is learnt.
    #[test]
    fn nine_of_ten_come_in_time() {
        let mut tail = Tail::new();
        // Each of a hundred, in an order that goes up and down.
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
    fn who_is_put_aside_goes_without_for_longer_each_time() {
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
