//! Looking again before one waits: how often, and how it leaves the core to others meanwhile.
//!
//! Where schedules are explored, and on one core, nobody who looks again finds anything new: there it is never worth it.

use crate::sync::{spin_hint, spinning_pays, yield_now};

/// Turns that double what they wait.
const DOUBLINGS: u32 = 6;
/// Turns that give the core away, after those.
const YIELDS: u32 = 4;

/// One stretch of looking again.
pub(crate) struct Spin(u32);

impl Spin {
    pub(crate) fn new() -> Self {
        Spin(0)
    }

    /// Waits a little for what another thread is in the middle of: it needs a step or two and waits for nobody.
    #[cold]
    pub(crate) fn snooze(&mut self) {
        if !spinning_pays() || self.0 > DOUBLINGS {
            yield_now();
            return;
        }
        self.turn();
    }

    /// Waits a little, or answers that it has been long enough.
    pub(crate) fn again(&mut self) -> bool {
        if self.0 > DOUBLINGS + YIELDS || !spinning_pays() {
            return false;
        }
        self.turn();
        true
    }

    fn turn(&mut self) {
        if self.0 <= DOUBLINGS {
            for _ in 0..1_u32 << self.0 {
                spin_hint();
            }
        } else {
            yield_now();
        }
        self.0 += 1;
    }
}
