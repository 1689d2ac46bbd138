//! Arm: a number of timers is armed in turn, and nothing else.
//!
//! The value is the time of each. Where allocations are counted, the peak is the memory of that many timers without
//! their handles; futures contain their timers. Each repetition uses a new service that has fired a single timer. So
//! it is running, and it has to allocate the memory for the others. A callback holds two words. No firing is
//! observed.

use std::marker::PhantomData;

use flowmeter_harness::sync::std::clock;
use flowmeter_measure::reading::{Cost, Reading};
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::TimerForm;
use super::arming::Arming;
use super::calls::Calls;
use super::churn::prove_firing;
use super::deadlines::Deadlines;
use crate::scenario::{Facts, Within};
use crate::workloads::ledger::disproved;
use crate::workloads::pieces::Pieces;

/// Timers of a proof.
const PROVED: usize = 1_000;

/// How many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How firing is waited for.
    pub form: TimerForm,
    /// Timers that a service is given.
    pub timers: Within<1, 10_000_000>,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: self.form.into(),
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: format!("timer-arm/{}", self.form.name()),
                waiting: Some(self.timers.count()),
                ..Axes::default()
            },
        }
    }
}

struct Stages<A> {
    params: Params,
    /// The count of the timer that is due.
    calls: &'static Calls,
    form: PhantomData<fn(A)>,
}

impl<A: Arming> Stages<A> {
    /// Arms them. Returns how long that took, in nanoseconds, and the cost.
    fn once(&self) -> Result<(u64, Cost), StageError> {
        let count = self.params.timers.count();
        let service = A::start();
        // Lazy initialisation has happened then.
        service.catch_up(self.calls)?;
        let mut armed = Vec::with_capacity(count);
        let mut deadlines = Deadlines::far();
        let mut first = Reading::first(clock::now_nanos());
        // After the reading itself, which takes relatively long where few timers are armed.
        first.nanos = clock::now_nanos();
        for _ in 0..count {
            let deadline = deadlines.after(first.nanos);
            armed.push(service.arm(deadline));
        }
        let last = Reading::last(clock::now_nanos());
        // The service still works: a due timer fires, after all of those were armed.
        service.catch_up(self.calls)?;
        drop(armed);
        let nanos = (last.nanos - first.nanos).max(1);
        Ok((nanos, last.since(&first, nanos)))
    }
}

impl<A: Arming> Stage for Stages<A> {
    /// Shows that none of many fires besides those that are due.
    fn prove(&mut self) -> Result<(), StageError> {
        let service = A::start();
        let silent = Calls::new(false);
        let mut deadlines = Deadlines::far();
        let now = clock::now_nanos();
        let one = |_| service.arm_counted(deadlines.after(now), silent);
        let _armed: Vec<_> = (0..PROVED.min(self.params.timers.count()))
            .map(one)
            .collect();
        prove_firing(&service, || Ok(()))?;
        match silent.fired() {
            0 => Ok(()),
            early => Err(disproved(format!("{early} timers fired a minute early"))),
        }
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let times = Pieces::of(&spec, || self.once())?;
        let timers = times.count * self.params.timers.get();
        let value = times.nanos as f64 / timers as f64;
        Ok(Sample::new(value, timers, times.nanos, times.cost))
    }
}

/// A stage.
pub fn stage<A: Arming>(params: Params) -> Box<dyn Stage> {
    Box::new(Stages::<A> {
        params,
        calls: Calls::new(false),
        form: PhantomData,
    })
}
