//! Bystander: a thread arms and cancels timers at a steady rate while a storm of others is due.
//!
//! The bystander is measured. The value is the 99th percentile of the time from the moment an operation should begin
//! to its end. An operation arms and cancels one timer. It includes all operations that should begin between the
//! deadline of the storm and its last call. How long the storm takes is measured by `timer-storm`.

use std::hint::spin_loop;

use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::std::clock;
use flowmeter_measure::reading::Cost;
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::arming::Cancelling;
use super::calls::{Calls, PATIENCE};
use super::deadlines::Deadlines;
use super::{TimerForm, sleep_until};
use crate::scenario::{Facts, Within};
use crate::workloads::crew::take_place;
use crate::workloads::latencies::Latencies;
use crate::workloads::ledger::{disproved, void};

/// Operations that a window should hold for their 99th percentile: twenty lie above it.
const ENOUGH: u64 = 2_000;
/// How many storms may be due too soon.
const TRIES: u32 = 10;

/// How many timers are due, and the rate of the bystander.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How firing is waited for.
    pub form: TimerForm,
    /// Timers due at the same moment.
    pub timers: Within<1, 1_000_000>,
    /// How many timers the bystander arms and cancels in a second.
    pub per_second: Within<1, 1_000_000>,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: self.form.into(),
            measure: Measure::Latency,
            unit: "ns",
            axes: Axes {
                family: format!("timer-bystander/{}", self.form.name()),
                waiting: Some(self.timers.count()),
                rate: Some(self.per_second.get()),
                ..Axes::default()
            },
        }
    }
}

struct Bystander<A> {
    params: Params,
    service: A,
    calls: &'static Calls,
    deadlines: Deadlines,
    /// How long arming the last storm took, in nanoseconds. The next one is due later than that.
    arming: u64,
}

impl<A: Cancelling> Bystander<A> {
    /// One storm. What the bystander saw goes into `took`. Returns how long the storm lasted in nanoseconds, or
    /// `None` if it was due before all of it was armed.
    fn storm(
        &mut self,
        calls: &'static Calls,
        took: &mut Latencies,
    ) -> Result<Option<u64>, StageError> {
        let count = self.params.timers.get();
        calls.expect(count);
        let began = clock::now_nanos();
        let due = Deadline::from_nanos(began + 2 * self.arming + 2_000_000);
        let one = |_| self.service.arm_counted(due, calls);
        let _storm: Vec<_> = (0..count).map(one).collect();
        self.arming = clock::now_nanos() - began;
        if clock::has_passed(due) {
            calls.wait_for(count)?;
            return Ok(None);
        }
        sleep_until(Deadline::from_nanos(due.as_nanos() - 1_000_000));
        let patience = Deadline::after(due.as_nanos(), PATIENCE);
        let mut now = clock::now_nanos();
        let mut begins = due.as_nanos();
        while now < patience.as_nanos() {
            while now < begins {
                spin_loop();
                now = clock::now_nanos();
            }
            // Operations that should begin while an earlier one was delayed to the end are late as well.
            if calls.ended().is_some_and(|ended| ended <= begins) {
                break;
            }
            if !self.service.arm_and_cancel(self.deadlines.after(now)) {
                return Err(disproved("a timer fired a minute early"));
            }
            now = clock::now_nanos();
            took.record(now - begins);
            begins += 1_000_000_000 / self.params.per_second.get();
        }
        calls.wait_for(count)?;
        Ok(calls.ended().map(|ended| ended - due.as_nanos()))
    }

    /// Storms for that time, with that many operations of the bystander.
    fn storms(
        &mut self,
        calls: &'static Calls,
        nanos: u64,
        operations: u64,
    ) -> Result<Sample, StageError> {
        let mut took = Latencies::new()?;
        let (mut lasted, mut missed) = (0, 0);
        let end = clock::now_nanos() + nanos;
        while took.0.len() < operations || clock::now_nanos() < end {
            match self.storm(calls, &mut took)? {
                Some(nanos) => lasted += nanos,
                None if missed == TRIES => {
                    let count = self.params.timers.get();
                    return Err(void(format!(
                        "{count} timers were not armed before they were due, {TRIES} times"
                    )));
                }
                None => missed += 1,
            }
        }
        // The bystander spins: CPU time would be its own.
        let (value, seen) = (took.p99() as f64, took.0.len());
        Ok(Sample::new(value, seen, lasted.max(1), Cost::default()))
    }
}

impl<A: Cancelling> Stage for Bystander<A> {
    fn prove(&mut self) -> Result<(), StageError> {
        self.storms(Calls::new(true), 0, 1).map(drop)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        take_place(0)?;
        self.storms(self.calls, spec.nanos, ENOUGH)
    }
}

/// A stage.
pub fn stage<A: Cancelling>(params: Params) -> Box<dyn Stage> {
    Box::new(Bystander {
        params,
        service: A::start(),
        calls: Calls::new(false),
        deadlines: Deadlines::far(),
        arming: params.timers.get() * 500,
    })
}
