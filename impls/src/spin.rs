//! Backoff: how often a waiter looks again before it queues or sleeps.
//!
//! A waiter first spins, twice as long each turn, and then yields its core to other threads. At a queue or a ring, without a
//! deadline, it spins for equal turns. At a ring the first of them is longer in a stream (`channel/pace.rs`). A task that
//! leaves a lock alone spins between four looks, and sleeps once if it was in use at each.
//! In schedule exploration and on a single core a retry finds nothing new, and the waiter stops or yields at once. How long
//! it goes on is a multiple of what waiting costs on the machine, as `wait_costs` measures it. The multiples were compared
//! on an AMD EPYC of family 26, with two cores near each other and far apart (docs/lab/2026-11-29-waiting-by-cost.md).

use flowmeter_harness::sync::WaitCosts;

use crate::sync::{clock, sleep_for, spin_for, wait_costs, yield_now};

/// Turns of spinning, each twice as long as the one before. Together they take as long as a yield.
const TURNS: u32 = 4;
/// The same time in turns that are as long as the first. They are for a waiter at a line that is written once before it goes
/// on: a slot of a queue, or for one answer the word of a single producer or consumer. To look at a seat or a lock takes its
/// line from a thread that is about to write it again (docs/lab/2026-11-30-beside-a-ring.md,
/// docs/lab/2026-11-30-one-producer-one-consumer.md).
const EQUAL_TURNS: u32 = (1 << TURNS) - 1;
/// The fewest turns of a waiter for a step of another thread, before it yields.
const STEP_TURNS: u32 = 2;
/// The longest that all its turns last where there are more, in yields.
const STEP_YIELDS: u32 = 24;
/// The longest first turn of a waiter that lets a queue fill, in round trips.
const FIRST_TRIPS: u32 = 8;
/// How long such a waiter waits for each cache line of each slot. A value passes a slot in some 6 ns where threads do
/// little else, and later where they work. Chosen on an AMD EPYC of family 25 (docs/lab/2026-11-30-narrow-rings.md).
const LINE_NANOS: usize = 10;
const LINE_BYTES: usize = 64;
/// A lock is in use if others use it at least once in so many round trips. To take it from another core costs at least two:
/// one for the lock, and one for what it guards. This and the next one were compared on an AMD EPYC of family 25
/// (docs/lab/2026-11-30-locks-in-use.md).
const USE_TRIPS: u32 = 2;
/// The wait before the last look at whether a lock is in use, in round trips. Waits double up to it, so there are four
/// looks.
const LAST_LOOK_TRIPS: u32 = 16;
/// How long a thread sleeps where the lock was in use at each look, in wake-ups. On Linux the timer's slack adds 50 us, so
/// shorter sleeps differ little (docs/lab/2026-11-30-asleep-beside-a-lock.md).
const AWAY_WAKES: u32 = 2;

/// One stretch of backoff.
pub(crate) struct Spin {
    /// The number of the next turn.
    turn: u32,
    /// The longest first turn that lets a queue fill. 0 outside a queue, and more than any turn where a queue has no
    /// bound.
    fill_nanos: u32,
    /// How often the first of equal turns is doubled. It lasts [`FIRST_TRIPS`] at most.
    doublings: u32,
}

impl Spin {
    /// Backoff for a step of another thread, and for a change.
    #[inline]
    pub(crate) fn new() -> Self {
        Spin::paced(0)
    }

    /// The same, with a first turn that is doubled so often where turns are equal.
    #[inline]
    pub(crate) fn paced(doublings: u32) -> Self {
        Spin {
            turn: 0,
            fill_nanos: 0,
            doublings,
        }
    }

    /// Backoff of a put or take that met another thread's step in a queue of so many slots. An immediate retry gets one
    /// value, and takes the cache line from the core that is about to write the next. A longer wait gets several values,
    /// but once the queue is full it gets no more. So the first turn lasts about as long as the queue takes to fill, at
    /// most `FIRST_TRIPS` and at least a shortest turn.
    pub(crate) fn among<Slot>(slots: usize) -> Self {
        let of_one = size_of::<Slot>().div_ceil(LINE_BYTES) * LINE_NANOS;
        Spin {
            fill_nanos: u32::try_from(slots.saturating_mul(of_one)).unwrap_or(u32::MAX),
            ..Spin::new()
        }
    }

    /// The same in a queue that is never full.
    pub(crate) fn in_unbounded() -> Self {
        Spin {
            fill_nanos: u32::MAX,
            ..Spin::new()
        }
    }

    /// Waits briefly for another thread that is in the middle of an operation. That thread needs a step or two, and
    /// itself waits at most for another such step. Later the waiter yields, since that thread may need this core.
    #[cold]
    #[track_caller]
    pub(crate) fn snooze(&mut self) {
        match wait_costs() {
            Some(costs) if self.spins_for_step(costs) => self.spin(costs),
            _ => yield_now(),
        }
    }

    /// Leaves a lock alone that another thread holds, if others use it often: the thread looks four times, and sleeps once
    /// if the lock was in use at each. If a single other thread uses it, that thread keeps the lock's cache line, and what
    /// the lock guards, for many operations in place of one. With several this was not measured. `uses` says how often the
    /// lock was used.
    ///
    /// What only this thread can run is late by the sleep: a task that it woke last, which tokio lets no other thread run,
    /// and other futures of the same poll.
    #[cold]
    pub(crate) fn away(uses: impl Fn() -> u32) {
        if let Some(costs) = wait_costs() {
            leave_alone(costs, uses, spin_for, sleep_for);
        }
    }

    /// Spins for one turn; `false` once there have been enough.
    pub(crate) fn again(&mut self) -> bool {
        self.spins_or_yields(TURNS, |_| 0)
    }

    /// Spins for equal turns, or yields; `false` once there have been enough. For a waiter that would otherwise stand in
    /// line, which makes all others take the lock: it yields for half a wake-up.
    pub(crate) fn again_before_line(&mut self) -> bool {
        self.spins_or_yields(EQUAL_TURNS, |costs| costs.wake_nanos / 2)
    }

    /// Spins or yields; `false` once there have been enough. For a waiter that would otherwise sleep until it is woken:
    /// it yields for two wake-ups, one for the time until it runs again and one for the thread that causes it.
    pub(crate) fn again_before_sleep(&mut self) -> bool {
        self.spins_or_yields(TURNS, |costs| costs.wake_nanos * 2)
    }

    /// The same in equal turns, for a waiter that looks at the word of the one thread it waits for.
    pub(crate) fn again_before_sleep_at_word(&mut self) -> bool {
        self.spins_or_yields(EQUAL_TURNS, |costs| costs.wake_nanos * 2)
    }

    /// Whether one turn is over, and no more.
    pub(crate) fn is_in_first_turn(&self) -> bool {
        self.turn == 1
    }

    /// Whether a turn or a yield is over.
    pub(crate) fn has_waited(&self) -> bool {
        self.turn > 0
    }

    /// Spins for one of `turns`, [`TURNS`] or [`EQUAL_TURNS`]. After the last one it yields, as many times as take so long
    /// where no other thread wants the core.
    fn spins_or_yields(&mut self, turns: u32, yielding: impl Fn(WaitCosts) -> u32) -> bool {
        let Some(costs) = wait_costs() else {
            return false;
        };
        if self.turn < turns {
            spin_for(match turns {
                TURNS => shortest(costs) << self.turn,
                _ => self.equal_turn_nanos(costs),
            });
            self.turn += 1;
            return true;
        }
        let last = turns + yielding(costs).div_ceil(costs.yield_nanos);
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

    fn equal_turn_nanos(&self, costs: WaitCosts) -> u32 {
        let shortest = shortest(costs);
        let most = shortest.max(FIRST_TRIPS * costs.round_trip_nanos);
        match self.turn {
            0 => most.min(shortest << self.doublings),
            _ => shortest,
        }
    }

    fn spin(&mut self, costs: WaitCosts) {
        spin_for(self.turn_nanos(costs));
        self.turn += 1;
    }

    fn turn_nanos(&self, costs: WaitCosts) -> u32 {
        let until_full = self.fill_nanos.min(FIRST_TRIPS * costs.round_trip_nanos);
        shortest(costs).max(until_full) << self.turn
    }

    fn spins_for_step(&self, costs: WaitCosts) -> bool {
        // Each turn lasts as long as all before it and one of the first.
        let with_next = 2 * self.turn_nanos(costs);
        self.turn < STEP_TURNS || with_next <= STEP_YIELDS * costs.yield_nanos
    }
}

/// The shortest turn.
fn shortest(costs: WaitCosts) -> u32 {
    costs.yield_nanos / EQUAL_TURNS
}

/// See [`Spin::away`]. The first look comes soon, so that a task waits little for a lock that is used rarely. The others come
/// later, because each takes a cache line from the thread that uses the lock. `spin` and `sleep` wait for nanoseconds.
fn leave_alone(
    costs: WaitCosts,
    uses: impl Fn() -> u32,
    mut spin: impl FnMut(u32),
    sleep: impl FnOnce(u32),
) {
    let (mut seen, mut trips) = (uses(), USE_TRIPS);
    while trips <= LAST_LOOK_TRIPS {
        spin(trips * costs.round_trip_nanos);
        let now = uses();
        if now.wrapping_sub(seen) < trips / USE_TRIPS {
            return;
        }
        (seen, trips) = (now, 2 * trips);
    }
    sleep(AWAY_WAKES * costs.wake_nanos);
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use std::cell::Cell;

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
        let (of_one, doubled) = (
            shortest(NEAR),
            (0..TURNS).map(|turn| shortest(NEAR) << turn),
        );
        assert_eq!(doubled.sum::<u32>(), EQUAL_TURNS * of_one);
        assert!((370..=400).contains(&(EQUAL_TURNS * of_one)), "{of_one} ns");
    }

    #[test]
    fn the_first_of_equal_turns_is_doubled_up_to_eight_round_trips() {
        let turns = |doublings, costs| {
            let mut spin = Spin::paced(doublings);
            let first = spin.equal_turn_nanos(costs);
            spin.turn += 1;
            (first, spin.equal_turn_nanos(costs))
        };
        let of_one = shortest(NEAR);
        assert_eq!(turns(0, NEAR), (of_one, of_one));
        assert_eq!(turns(3, NEAR), (8 * of_one, of_one));
        assert_eq!(turns(7, NEAR), (8 * NEAR.round_trip_nanos, of_one));
        assert_eq!(turns(7, FAR), (8 * FAR.round_trip_nanos, of_one));
    }

    #[test]
    fn the_first_turn_in_a_queue_ends_as_it_is_full_or_after_eight_round_trips() {
        for costs in [NEAR, FAR] {
            assert_eq!(first(1, costs), shortest(costs), "the shortest");
            assert_eq!(first(6, costs), 60);
        }
        assert_eq!((first(64, NEAR), first(64, FAR)), (400, 640));
        assert_eq!((first(1_024, NEAR), first(1_024, FAR)), (400, 3_200));
        let of_large = Spin::among::<[u64; 64]>(20);
        assert_eq!(of_large.turn_nanos(FAR), 1_600, "eight lines each");
        assert_eq!(Spin::in_unbounded().turn_nanos(NEAR), 400);
        assert_eq!(first(usize::MAX, FAR), 3_200);
    }

    /// Turns of a waiter for a step, and how long they last together.
    fn turns(mut spin: Spin, costs: WaitCosts) -> (u32, u32) {
        let mut whole = 0;
        while spin.spins_for_step(costs) {
            whole += spin.turn_nanos(costs);
            spin.turn += 1;
        }
        (spin.turn, whole)
    }

    #[test]
    fn a_waiter_for_a_step_yields_after_two_turns_or_twenty_four_yields() {
        assert_eq!(turns(Spin::new(), NEAR), (8, 26 * 255));
        assert_eq!(turns(Spin::in_unbounded(), FAR), (2, 3_200 * 3));
        for round_trip_nanos in [40, 51, 75] {
            let costs = WaitCosts {
                round_trip_nanos,
                ..NEAR
            };
            assert_eq!(turns(Spin::in_unbounded(), costs).0, 4);
        }
    }

    /// The round trips of each spin, where others use the lock so often in each, and how long the thread sleeps.
    fn away(costs: WaitCosts, used: impl Fn(u32) -> u32) -> (Vec<u32>, Option<u32>) {
        let uses = Cell::new(u32::MAX);
        let (mut spins, mut slept) = (Vec::new(), None);
        leave_alone(
            costs,
            || uses.get(),
            |nanos| {
                let trips = nanos / costs.round_trip_nanos;
                spins.push(trips);
                uses.set(uses.get().wrapping_add(used(trips)));
            },
            |nanos| slept = Some(nanos),
        );
        (spins, slept)
    }

    #[test]
    fn a_task_sleeps_for_two_wake_ups_beside_a_lock_that_was_in_use_at_four_looks() {
        for costs in [NEAR, FAR] {
            let slept = Some(2 * costs.wake_nanos);
            assert_eq!(away(costs, |trips| trips / 2), (vec![2, 4, 8, 16], slept));
        }
    }

    #[test]
    fn the_first_look_at_which_a_lock_was_used_less_is_the_last_and_no_sleep_follows() {
        let at_most = |most: u32| away(NEAR, |trips| (trips / 2).min(most));
        assert_eq!(at_most(0), (vec![2], None));
        assert_eq!(at_most(1), (vec![2, 4], None));
        assert_eq!(at_most(3), (vec![2, 4, 8], None));
        assert_eq!(at_most(7), (vec![2, 4, 8, 16], None));
    }
}
