//! Keep-alive: a timer for each connection, put off again and again.
//!
//! With each sign of life the deadline of one moves, from a minute after the last to a minute from now. Who can reset a
//! timer does; others call it off and schedule another, and a future is dropped and made anew.

use std::time::Duration;

use flowmeter_harness::measure::StageError;
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;

use super::arming::{Arming, Moving};
use super::calls::Calls;
use super::churn::{Params, keep};
use super::deadlines::Deadlines;
use crate::workloads::ledger::disproved;
use crate::workloads::solo::Solo;

/// How long a connection may be silent, nanoseconds.
const SILENCE: u64 = 60_000_000_000;

/// Timers that are put off.
pub struct KeepAlive<A: Arming> {
    arming: A,
    connections: Vec<A::Armed>,
    random: Deadlines,
    /// Of one that is due.
    due: &'static Calls,
}

impl<A: Moving> KeepAlive<A> {
    /// With a timer armed for each connection.
    pub fn new(params: Params) -> Self {
        let arming = A::start();
        KeepAlive {
            connections: keep(&arming, params.outstanding.count()),
            arming,
            random: Deadlines::far(),
            due: Calls::new(false),
        }
    }
}

impl<A: Moving> Solo for KeepAlive<A> {
    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        let deadline = Deadline::from_nanos(clock::now_nanos() + SILENCE);
        for _ in 0..turns {
            let one = self.random.one_of(self.connections.len());
            if !self
                .arming
                .put_off(&mut self.connections[one], deadline, None)
            {
                return Err(disproved("a timer fired a minute early"));
            }
        }
        Ok(())
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
            if !self.arming.put_off(&mut one, soon, Some(calls)) {
                return Err(disproved("a timer fired a minute early"));
            }
            armed.push(one);
        }
        calls.wait_for(TIMERS)
    }
}
