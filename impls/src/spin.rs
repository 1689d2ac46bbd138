//! Backoff: how often a waiter looks again before it queues or sleeps.
//!
//! A waiter first spins, twice as long each turn, and then yields its core to other threads. In schedule exploration and
//! on a single core a retry finds nothing new, and the waiter stops at once. How long it goes on is a multiple of what
//! waiting costs on the machine, as `wait_costs` measures it. The multiples were compared on two kinds of AMD EPYC, with
//! two cores near each other and far apart (docs/lab/2026-11-29-waiting-by-cost.md, 2026-11-30-narrow-rings.md).

use flowmeter_harness::sync::WaitCosts;

use crate::sync::{clock, spin_for, wait_costs, yield_now};

/// Turns of spinning, each twice as long as the one before. Together they take as long as a yield.
const TURNS: u32 = 4;
/// The longest first turn of a waiter for a step in a queue, in round trips.
const FIRST_TRIPS: u32 = 8;
/// The longest later turn of such a waiter, in yields. After that it yields.
const LONGEST_TURN: u32 = 16;
/// About how long a value takes through a slot, for each cache line of it, between threads that do little else.
const LINE_NANOS: usize = 10;
const LINE_BYTES: usize = 64;
/// For how many round trips a task leaves a lock alone that another thread holds.
const AWAY_TRIPS: u32 = 64;

/// One stretch of backoff.
pub(crate) struct Spin {
    /// The number of the next turn.
    turn: u32,
    /// How long the queue takes to fill; 0 outside a queue.
    fill_nanos: u32,
}

impl Spin {
    #[inline]
    pub(crate) fn new() -> Self {
        Spin {
            turn: 0,
            fill_nanos: 0,
        }
    }

    /// Backoff for steps of others in a queue of so many slots. An immediate retry gets one value and takes the cache
    /// line from the core that is about to write the next. A longer wait gets several values, but after the queue is
    /// full it gets no more. So the first turn lasts as long as the queue takes to fill, and at most some round trips.
    pub(crate) fn among<Slot>(slots: usize) -> Self {
        let of_one = size_of::<Slot>().div_ceil(LINE_BYTES) * LINE_NANOS;
        Spin {
            fill_nanos: u32::try_from(slots.saturating_mul(of_one)).unwrap_or(u32::MAX),
            ..Spin::new()
        }
    }

    /// Backoff for steps of others in a queue that is never full.
    pub(crate) fn in_unbounded() -> Self {
        Spin {
            fill_nanos: u32::MAX,
            ..Spin::new()
        }
    }

    /// Waits briefly for another thread that is in the middle of an operation. That thread needs a step or two, and
    /// itself waits at most for another such step. After a turn of `LONGEST_TURN` yields the waiter yields, since that
    /// thread may need this core.
    #[cold]
    #[track_caller]
    pub(crate) fn snooze(&mut self) {
        match wait_costs() {
            Some(costs) if self.turn == 0 || self.is_short(costs) => self.spin(costs),
            _ => yield_now(),
        }
    }

    /// Leaves a lock alone that another thread holds. The other thread keeps the lock's cache line meanwhile, and what
    /// the lock guards, for many operations in place of one.
    #[cold]
    pub(crate) fn away() {
        if let Some(costs) = wait_costs() {
            spin_for(AWAY_TRIPS * costs.round_trip_nanos);
        }
    }

    /// Spins for one turn; `false` once there have been enough.
    pub(crate) fn again(&mut self) -> bool {
        self.spins_or_yields(|_| 0)
    }

    /// Spins or yields; `false` once there have been enough. For a waiter that would otherwise stand in line, which
    /// makes all others take the lock: it yields for half a wake-up.
    pub(crate) fn again_before_line(&mut self) -> bool {
        self.spins_or_yields(|costs| costs.wake_nanos / 2)
    }

    /// Spins or yields; `false` once there have been enough. For a waiter that would otherwise sleep until it is woken:
    /// it yields for two wake-ups, one for the time until it runs again and one for the thread that causes it.
    pub(crate) fn again_before_sleep(&mut self) -> bool {
        self.spins_or_yields(|costs| costs.wake_nanos * 2)
    }

    /// Spins for a turn. After the last one it yields, as many times as take so long where no other thread wants the core.
    fn spins_or_yields(&mut self, yielding: impl Fn(WaitCosts) -> u32) -> bool {
        let Some(costs) = wait_costs() else {
            return false;
        };
        if self.turn < TURNS {
            self.spin(costs);
            return true;
        }
        let last = TURNS + yielding(costs).div_ceil(costs.yield_nanos);
        if self.turn >= last {
            return false;
        }
        let before = clock::now_nanos();
        yield_now();
        // After a yield that took so long, other threads want the core.
        let is_late = clock::now_nanos() - before > u64::from(costs.wake_nanos) * 4;
        self.turn = if is_late { last } else { self.turn + 1 };
        true
    }

    fn spin(&mut self, costs: WaitCosts) {
        spin_for(self.turn_nanos(costs));
        self.turn += 1;
    }

    fn turn_nanos(&self, costs: WaitCosts) -> u32 {
        let shortest = costs.yield_nanos / ((1 << TURNS) - 1);
        let until_full = self.fill_nanos.min(FIRST_TRIPS * costs.round_trip_nanos);
        shortest.max(until_full) << self.turn
    }

    fn is_short(&self, costs: WaitCosts) -> bool {
        self.turn_nanos(costs) <= LONGEST_TURN * costs.yield_nanos
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;

    const NEAR: WaitCosts = WaitCosts {
        round_trip_nanos: 50,
        wake_nanos: 15_000,
        yield_nanos: 400,
    };
    const FAR: WaitCosts = WaitCosts {
        round_trip_nanos: 400,
        ..NEAR
    };

    fn first(slots: usize, costs: WaitCosts) -> u32 {
        Spin::among::<u64>(slots).turn_nanos(costs)
    }

    #[test]
    fn the_turns_before_a_yield_take_as_long_as_one() {
        for costs in [NEAR, FAR] {
            let mut spin = Spin::new();
            let mut whole = 0;
            while spin.turn < TURNS {
                whole += spin.turn_nanos(costs);
                spin.turn += 1;
            }
            assert!((370..=400).contains(&whole), "{whole} ns with {costs:?}");
        }
    }

    #[test]
    fn the_first_turn_in_a_queue_ends_as_it_is_full_or_after_eight_round_trips() {
        for costs in [NEAR, FAR] {
            assert_eq!(first(1, costs), costs.yield_nanos / 15, "the shortest");
            assert_eq!(first(7, costs), 70);
        }
        assert_eq!((first(64, NEAR), first(64, FAR)), (400, 640));
        assert_eq!((first(1_024, NEAR), first(1_024, FAR)), (400, 3_200));
        let of_large = Spin::among::<[u64; 64]>(20);
        assert_eq!(of_large.turn_nanos(FAR), 1_600, "eight lines each");
        assert_eq!(Spin::in_unbounded().turn_nanos(NEAR), 400);
        assert_eq!(first(usize::MAX, FAR), 3_200);
    }

    #[test]
    fn a_waiter_for_a_step_spins_once_and_on_while_a_turn_is_short() {
        let turns = |slots, costs| {
            let mut spin = Spin::among::<u64>(slots);
            while spin.turn == 0 || spin.is_short(costs) {
                spin.turn += 1;
            }
            spin.turn
        };
        // To 26 << 7, 400 << 4 and 3,200 << 1 of at most 6,400 ns.
        assert_eq!(turns(1, NEAR), 8);
        assert_eq!(turns(1_024, NEAR), 5);
        assert_eq!(turns(1_024, FAR), 2);
        let hasty = WaitCosts {
            yield_nanos: 150,
            ..FAR
        };
        assert_eq!(turns(1_024, hasty), 1);
    }
}
