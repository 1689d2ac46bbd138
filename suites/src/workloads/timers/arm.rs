//! Arm: so many timers, one after the other, and nothing else.
//!
//! The value is the time of each. Where allocations are counted, the most that was held is what so many timers take,
//! their names not included; of futures it is they that hold the timers. Each time the service is a new one that has
//! fired a single timer, so it runs, and the memory for the others it has to get. A callback holds two words. None of
//! them is seen to fire.

use std::marker::PhantomData;

use flowmeter_harness::measure::reading::{Cost, Reading};
use flowmeter_harness::measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_harness::record::{Axes, Measure};
use flowmeter_harness::sync::std::clock;
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
    /// What records say of it.
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
    /// Of the one that is due.
    calls: &'static Calls,
    form: PhantomData<fn(A)>,
}

impl<A: Arming> Stages<A> {
    /// Arms them, and says how long that took, nanoseconds, and what it cost.
    fn once(&self) -> Result<(u64, Cost), StageError> {
        let count = self.params.timers.count();
        let service = A::start();
        // Whatever it starts only when it has something to do, it has started then.
        service.catch_up(self.calls)?;
        let mut armed = Vec::with_capacity(count);
        let mut deadlines = Deadlines::far();
        let mut first = Reading::first(clock::now_nanos());
        // Behind what the reading itself takes, which is much where few timers are armed.
        first.nanos = clock::now_nanos();
        for _ in 0..count {
            let deadline = deadlines.after(first.nanos);
            armed.push(service.arm(deadline));
        }
        let last = Reading::last(clock::now_nanos());
        // It has not come to harm: what is due fires, behind all of those.
        service.catch_up(self.calls)?;
        drop(armed);
        let nanos = (last.nanos - first.nanos).max(1);
        Ok((nanos, last.since(&first, nanos)))
    }
}

impl<A: Arming> Stage for Stages<A> {
    /// That none of many fires beside those that are due.
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
