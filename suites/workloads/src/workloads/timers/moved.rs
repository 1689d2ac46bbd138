//! Moved: timers stay armed, and their deadlines are changed in turn.
//!
//! Put off: there is a timer for each connection. With each sign of life one moves from a minute after the last sign
//! to a minute from now. Brought forward: one timer moves before all others, by a microsecond, so a thread that
//! sleeps until the earliest has to be told each time. A timer with reset uses it. Others cancel and schedule again,
//! and a future is dropped and made anew.

use std::hint::black_box;
use std::time::Duration;

use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;
use flowmeter_measure::StageError;

use super::arming::{Arming, Moving};
use super::calls::Calls;
use super::churn::{Life, Params};
use super::deadlines::Deadlines;
use crate::workloads::ledger::disproved;
use crate::workloads::solo::Solo;

/// How long a connection may be silent, nanoseconds.
const SILENCE: u64 = 60_000_000_000;
/// Where timers begin that are brought forward, in nanoseconds from now. They are put off to there before they come
/// near.
const HOUR: u64 = 60 * SILENCE;
/// How much earlier than all others one becomes, in nanoseconds.
const SOONER: u64 = 1_000;

/// Timers that are moved.
pub struct Moved<A: Arming> {
    arming: A,
    forward: bool,
    armed: Vec<A::Armed>,
    /// The earliest of them, or earlier.
    earliest: u64,
    random: Deadlines,
    /// The count of the timer that is due.
    due: &'static Calls,
}

impl<A: Moving> Moved<A> {
    /// With all of them armed.
    pub fn new(params: Params) -> Self {
        let arming = A::start();
        let forward = params.life == Life::BroughtForward;
        let earliest = clock::now_nanos() + if forward { HOUR } else { SILENCE };
        let one = |_| arming.arm(Deadline::from_nanos(earliest));
        Moved {
            forward,
            armed: (0..params.outstanding.count()).map(one).collect(),
            earliest,
            random: Deadlines::far(),
            due: Calls::new(false),
            arming,
        }
    }

    /// The next deadline to move one to.
    fn next(&mut self, now: u64) -> Deadline {
        Deadline::from_nanos(if !self.forward {
            now + SILENCE
        } else {
            self.earliest -= SOONER;
            if self.earliest < now + SILENCE {
                self.earliest = now + HOUR;
            }
            self.earliest
        })
    }
}

impl<A: Moving> Solo for Moved<A> {
    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        // Read once: for some designs the clock costs more than all the rest.
        let now = clock::now_nanos();
        for _ in 0..turns {
            let deadline = self.next(now);
            let one = self.random.one_of(self.armed.len());
            if !self.arming.move_to(&mut self.armed[one], deadline, None) {
                return Err(disproved("a timer fired a minute early"));
            }
        }
        Ok(())
    }

    fn bare(&mut self, turns: u64) {
        let now = clock::now_nanos();
        let earliest = self.earliest;
        for _ in 0..turns {
            let deadline = self.next(now);
            let one = self.random.one_of(self.armed.len());
            black_box((&mut self.armed[one], deadline));
        }
        self.earliest = earliest;
    }

    fn settle(&mut self) -> Result<(), StageError> {
        self.arming.catch_up(self.due)
    }

    /// Timers fire when they were moved to, once each and not early.
    fn prove(&mut self) -> Result<(), StageError> {
        const TIMERS: u64 = 10;
        let calls = Calls::new(true);
        let mut armed = Vec::new();
        for _ in 0..TIMERS {
            let later = Deadline::from_nanos(clock::now_nanos() + SILENCE);
            let mut one = self.arming.arm_counted(later, calls);
            self.batch(1)?;
            let soon = clock::after(Duration::from_millis(3));
            if !self.arming.move_to(&mut one, soon, Some(calls)) {
                return Err(disproved("a timer fired a minute early"));
            }
            armed.push(one);
        }
        calls.wait_for(TIMERS)
    }
}
