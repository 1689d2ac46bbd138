//! Expiry: a number of timers, each re-armed when it fires.
//!
//! A timer without cost and lateness would fire each of them once per delay. The difference is the cost of firing and
//! arming, and the lateness. The first deadlines are spread over one delay, and each later delay is drawn from 5 % to both
//! sides of the stated one. So the count does not move in steps of all timers.

use std::marker::PhantomData;

use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, FailureKind, Measure};
use serde::{Deserialize, Serialize};

use super::TimerForm;
use super::sleepers::{Dormitory, Pace, Waiting};
use crate::scenario::{Facts, Within};
use crate::workloads::ledger::{disproved, void};

/// How many timers, and their delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How firing is waited for.
    pub form: TimerForm,
    /// Timers armed at a time.
    pub timers: Within<1, 1_000_000>,
    /// From arming to the deadline, in the mean.
    pub delay_micros: Within<1, 1_000_000>,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: self.form.into(),
            measure: Measure::Throughput,
            unit: "timers/s",
            axes: Axes {
                family: format!(
                    "timer-expiry/{} us/{}",
                    self.delay_micros.get(),
                    self.form.name()
                ),
                waiting: Some(self.timers.count()),
                ..Axes::default()
            },
        }
    }
}

/// A proof that has taken this long, in nanoseconds, no longer waits for a first call.
const PATIENCE: u64 = 1_000_000_000;

struct Stages<W> {
    params: Params,
    form: PhantomData<fn(W)>,
}

impl<W: Waiting> Stage for Stages<W> {
    fn prove(&mut self) -> Result<(), StageError> {
        let mut nanos = 20_000_000 + 2_000 * self.params.delay_micros.get();
        loop {
            let seen = self.window(WindowSpec {
                ramp_nanos: 0,
                nanos,
                slowed_percent: None,
                seed: 1,
            });
            match seen {
                // So short a window may pass while other processes use the cores; then it says nothing about the
                // timer.
                Err(why) if why.kind == FailureKind::Void && nanos < PATIENCE => nanos *= 4,
                seen => return seen.map(drop),
            }
        }
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let delay = self.params.delay_micros.get() * 1_000;
        let dormitory = Dormitory {
            sleepers: self.params.timers.count(),
            // With one delay for all, those that a tick brings together would stay together.
            delays: delay - delay / 20..=delay + delay / 20,
            pace: Pace::Calls,
            lateness: None,
            slow: 0,
        };
        let slept = W::sleep(&dormitory, &spec)?;
        match slept.counts.early {
            0 if slept.counts.fired == 0 => Err(void("no timer was due within the window")),
            0 => {
                let value = slept.counts.fired as f64 / slept.nanos as f64 * 1e9;
                Ok(Sample::new(
                    value,
                    slept.counts.fired,
                    slept.nanos,
                    slept.cost,
                ))
            }
            early => Err(disproved(format!(
                "{early} timers fired before their deadline"
            ))),
        }
    }
}

/// A stage.
pub fn stage<W: Waiting>(params: Params) -> Box<dyn Stage> {
    Box::new(Stages::<W> {
        params,
        form: PhantomData,
    })
}
