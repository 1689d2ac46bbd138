//! Looking again before one waits: how often, and how it leaves the core to others meanwhile.
//!
//! Where schedules are explored, and on one core, nobody who looks again finds anything new: there it is never worth it.

use crate::sync::{spin_hint, spinning_pays, yield_now};

/// Turns, each of which waits twice as long as the one before: some microseconds in all, as long as it takes to wake a
/// thread.
const TURNS: u32 = 7;

/// One stretch of looking again.
pub(crate) struct Spin(u32);

impl Spin {
    pub(crate) fn new() -> Self {
        Spin(0)
    }

    /// Waits a little for what another thread is in the middle of: it needs a step or two and waits for nobody. If it does
    /// not get to them, it may need this core.
    #[cold]
    pub(crate) fn snooze(&mut self) {
        if !self.again() {
            yield_now();
        }
    }

    /// Waits a little, or answers that it has been long enough.
    pub(crate) fn again(&mut self) -> bool {
        if self.0 >= TURNS || !spinning_pays() {
            return false;
        }
        for _ in 0..1_u32 << self.0 {
            spin_hint();
        }
        self.0 += 1;
        true
    }
}
