//! Turnover: of the timers that are armed some are called off, and the others fire.
//!
//! Whoever arms them waits when the timer falls behind, so the value is what each of them costs the slower of the two:
//! who arms and calls off, or what fires. Those that fire are counted by generations. One begins when the one before the
//! last has fired to the last timer, so never more than two of them are out, and every timer is accounted for.

use flowmeter_harness::measure::StageError;
use flowmeter_harness::sync::std::clock;

use super::arming::{Arming, Cancelling};
use super::calls::Calls;
use super::churn::{Params, keep, prove_firing};
use super::delays::Deadlines;
use crate::workloads::solo::Solo;

/// Timers of a generation that fire.
const GENERATION: usize = 16_384;

/// Timers that are to fire, and who counts them.
struct Generation<A: Arming> {
    armed: Vec<A::Armed>,
    calls: &'static Calls,
}

impl<A: Arming> Generation<A> {
    fn new(judged: bool) -> Self {
        Generation {
            armed: Vec::with_capacity(GENERATION),
            calls: Calls::new(judged),
        }
    }

    /// Waits until all of them have fired; then it can begin anew.
    fn end(&mut self) -> Result<(), StageError> {
        self.calls.wait_for(self.armed.len() as u64)?;
        self.armed.clear();
        self.calls.reset();
        Ok(())
    }
}

/// Timers of which some are called off.
pub struct Turnover<A: Arming> {
    arming: A,
    _kept: Vec<A::Armed>,
    deadlines: Deadlines,
    cancelled_percent: usize,
    young: Generation<A>,
    old: Generation<A>,
}

impl<A: Cancelling> Turnover<A> {
    /// With the outstanding timers armed, and so many of a hundred others to be called off.
    pub fn new(params: Params, cancelled_percent: usize) -> Self {
        let arming = A::start();
        Turnover {
            _kept: keep(&arming, params.outstanding.count()),
            arming,
            deadlines: Deadlines::of(params.delays),
            cancelled_percent,
            young: Generation::new(false),
            old: Generation::new(false),
        }
    }
}

impl<A: Cancelling> Solo for Turnover<A> {
    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        let now = clock::now_nanos();
        for _ in 0..turns {
            let deadline = self.deadlines.after(now);
            if self.deadlines.one_of(100) < self.cancelled_percent {
                // Where this thread was held up it may have fired before, and nobody hears of it.
                self.arming.arm_and_cancel(deadline);
            } else {
                let armed = self.arming.arm_counted(deadline, self.young.calls);
                self.young.armed.push(armed);
            }
            if self.young.armed.len() == GENERATION {
                self.old.end()?;
                std::mem::swap(&mut self.old, &mut self.young);
            }
        }
        Ok(())
    }

    /// The same loop, with every call held against its deadline.
    fn prove(&mut self) -> Result<(), StageError> {
        self.young = Generation::new(true);
        self.batch(1_000)?;
        self.young.end()?;
        self.young = Generation::new(false);
        prove_firing(&self.arming, || Ok(()))
    }
}
