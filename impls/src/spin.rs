//! Looking again before one waits: how often, and how it leaves the core to others meanwhile.
//!
//! Where schedules are explored, and on one core, nobody who looks again finds anything new: there it is never worth it.
//! How long the turns are was measured; docs/lab/2026-11-22-channel-waiting.md has the figures of what lost.

use crate::sync::{clock, spin_hint, spinning_pays, yield_now};

/// Turns of looking again at once, each of which waits twice as long as the one before.
const TURNS: u32 = 4;
/// Turns after these in which the core is left to others, by who would otherwise stand in line.
const YIELDS_BEFORE_LINE: u32 = 16;
/// The same for who would otherwise sleep: to wake a thread costs more than many of them.
const YIELDS_BEFORE_SLEEP: u32 = 64;
/// A core that comes back later, in nanoseconds, is wanted by others, who should have it: no further turns.
const LATE_NANOS: u64 = 50_000;
/// Turns that wait for a step of another thread.
const STEP_TURNS: u32 = 8;
/// The longest first turn of these, in hints to the processor.
const FIRST_TURN: usize = 16;

/// One stretch of looking again: how many turns it has had, or begins after.
pub(crate) struct Spin(u32);

impl Spin {
    #[inline]
    pub(crate) fn new() -> Self {
        Spin(0)
    }

    /// One that waits for steps of others in a queue of so many slots. Who looks again at once gets one value, and takes
    /// the line from the core that is about to write the next; who gives it some time gets several. More than there are
    /// slots for is never worth waiting for.
    pub(crate) fn among(slots: usize) -> Self {
        Spin(slots.clamp(1, FIRST_TURN).ilog2())
    }

    /// Waits a little for what another thread is in the middle of: it needs a step or two, and waits at most
    /// for another's likewise. If it does not get to them, it may need this core.
    #[cold]
    pub(crate) fn snooze(&mut self) {
        if self.0 < STEP_TURNS && spinning_pays() {
            self.turn();
        } else {
            yield_now();
        }
    }

    /// Waits for a moment, or answers that it has been long enough.
    pub(crate) fn again(&mut self) -> bool {
        if self.0 >= TURNS || !spinning_pays() {
            return false;
        }
        self.turn();
        true
    }

    /// Waits a little, or answers that it has been long enough: for who would otherwise stand in line, and so have
    /// everybody take the lock.
    pub(crate) fn again_before_line(&mut self) -> bool {
        self.again() || self.leaves_the_core(YIELDS_BEFORE_LINE)
    }

    /// Waits a little, or answers that it has been long enough: for who would otherwise sleep until somebody wakes it.
    pub(crate) fn again_before_sleep(&mut self) -> bool {
        self.again() || self.leaves_the_core(YIELDS_BEFORE_SLEEP)
    }

    /// Leaves the core to others, unless it has had so many such turns.
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
        for _ in 0..1_u32 << self.0 {
            spin_hint();
        }
        self.0 += 1;
    }
}
