//! Backoff: how often a waiter looks again before it queues or sleeps.
//!
//! A waiter first spins, twice as long each turn, and then yields its core to other threads. In schedule exploration and
//! on a single core a retry finds nothing new; there `spinning_pays` is false and the waiter stops at once. The numbers
//! below were chosen by measurement on an AMD EPYC of family 26. Spinning is in nanoseconds. `spin_for` measures how many
//! spin hints that is.

use crate::sync::{clock, spin_for, spinning_pays, yield_now};

/// The first turn of spinning: one spin hint where the numbers were chosen.
const SHORTEST_NANOS: u32 = 24;

/// Turns of spinning, each twice as long as the one before.
const TURNS: u32 = 4;
/// Yields after these turns, before a waiter stands in line.
const YIELDS_BEFORE_LINE: u32 = 16;
/// Yields after these turns, before a waiter sleeps: waking a thread costs more than many yields.
const YIELDS_BEFORE_SLEEP: u32 = 64;
/// A yield longer than this, in nanoseconds, shows that other threads want the core: the waiter stops yielding.
const LATE_NANOS: u64 = 50_000;
/// Turns of spinning for a step of another thread, before the waiter yields.
const STEP_TURNS: u32 = 8;
/// The longest first turn of these, in shortest turns.
const FIRST_TURN: usize = 16;
/// For how long a task leaves a lock alone that another thread holds. 12 µs did as well at rooms up to 8, and 1.5 µs worse
/// (docs/lab/2026-11-29-async-waits.md). Not yet measured on other processors.
const AWAY_NANOS: u32 = 3_000;

/// One stretch of backoff: the number of the next turn.
pub(crate) struct Spin(u32);

impl Spin {
    #[inline]
    pub(crate) fn new() -> Self {
        Spin(0)
    }

    /// Backoff for steps of others in a queue of so many slots. An immediate retry gets one value and takes the cache
    /// line from the core that is about to write the next; a longer wait gets several values. The queue holds at most
    /// `slots` values, so the first turn grows no further than that.
    pub(crate) fn among(slots: usize) -> Self {
        Spin(slots.clamp(1, FIRST_TURN).ilog2())
    }

    /// Waits briefly for another thread that is in the middle of an operation. That thread needs a step or two, and
    /// itself waits at most for another such step. After `STEP_TURNS` turns the waiter yields, since that thread may
    /// need this core.
    #[cold]
    #[track_caller]
    pub(crate) fn snooze(&mut self) {
        if self.0 < STEP_TURNS && spinning_pays() {
            self.turn();
        } else {
            yield_now();
        }
    }

    /// Leaves a lock alone that another thread holds. The other thread keeps the lock's cache line meanwhile, and what
    /// the lock guards, for many operations in place of one.
    #[cold]
    pub(crate) fn away() {
        spin_for(AWAY_NANOS);
    }

    /// Spins for one turn; `false` once there have been enough.
    pub(crate) fn again(&mut self) -> bool {
        if self.0 >= TURNS || !spinning_pays() {
            return false;
        }
        self.turn();
        true
    }

    /// Spins or yields; `false` once there have been enough. For a waiter that would otherwise stand in line, which
    /// makes all others take the lock.
    pub(crate) fn again_before_line(&mut self) -> bool {
        self.again() || self.leaves_the_core(YIELDS_BEFORE_LINE)
    }

    /// Spins or yields; `false` once there have been enough. For a waiter that would otherwise sleep until it is woken.
    pub(crate) fn again_before_sleep(&mut self) -> bool {
        self.again() || self.leaves_the_core(YIELDS_BEFORE_SLEEP)
    }

    /// Yields the core; `false` after so many yields, or after a yield that took too long.
    fn leaves_the_core(&mut self, yields: u32) -> bool {
        if self.0 >= TURNS + yields || !spinning_pays() {
            return false;
        }
        let before = clock::now_nanos();
        yield_now();
        let is_late = clock::now_nanos() - before > LATE_NANOS;
        self.0 = if is_late { TURNS + yields } else { self.0 + 1 };
        true
    }

    fn turn(&mut self) {
        spin_for(SHORTEST_NANOS << self.0);
        self.0 += 1;
    }
}
