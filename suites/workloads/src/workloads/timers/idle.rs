//! Idle: a number of timers is armed, all of them at least a minute away, and none fires.
//!
//! The value is the CPU time of the process per second. An operation is a second of one timer. So with a million
//! timers, the context switches per million operations are those of one second. The thread that requested the window
//! sleeps and wakes at its edges, so the value is never zero. A window is at least a second long.

use flowmeter_harness::sync::std::clock;
use flowmeter_measure::interval::Interval;
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::TimerForm;
use super::arming::Arming;
use super::calls::Calls;
use super::deadlines::Deadlines;
use crate::scenario::{Facts, Within};
use crate::workloads::ledger::{disproved, void};

const SECOND: u64 = 1_000_000_000;

/// How many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How firing is waited for.
    pub form: TimerForm,
    /// Timers that are armed.
    pub timers: Within<1, 10_000_000>,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: self.form.into(),
            measure: Measure::Cost,
            unit: "ns/s",
            axes: Axes {
                family: format!("timer-idle/{}", self.form.name()),
                waiting: Some(self.timers.count()),
                ..Axes::default()
            },
        }
    }
}

struct Idle<A: Arming> {
    params: Params,
    service: A,
    _armed: Vec<A::Armed>,
    /// The count of those timers.
    silent: &'static Calls,
    /// The count of the timer that is due.
    due: &'static Calls,
}

impl<A: Arming> Idle<A> {
    /// Checks that it still fires due timers, after all earlier requests, and no others.
    fn is_awake(&self) -> Result<(), StageError> {
        self.service.catch_up(self.due)?;
        match self.silent.fired() {
            0 => Ok(()),
            early => Err(disproved(format!(
                "{early} timers fired before their deadline"
            ))),
        }
    }
}

impl<A: Arming> Stage for Idle<A> {
    fn prove(&mut self) -> Result<(), StageError> {
        self.is_awake()
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let interval = Interval::begin(&WindowSpec {
            nanos: spec.nanos.max(SECOND),
            ..spec
        });
        let cost = interval.sleep_through();
        self.is_awake()?;
        let used = cost
            .used
            .ok_or_else(|| void("the system does not tell CPU time"))?;
        let seconds = interval.nanos() as f64 / SECOND as f64;
        let timer_seconds = self.params.timers.get() as f64 * seconds;
        Ok(Sample::new(
            (used.cpu_nanos as f64 / seconds).max(1.0),
            timer_seconds.round() as u64,
            interval.nanos(),
            cost,
        ))
    }
}

/// A stage with all of them armed.
///
/// # Errors
/// When the service does not respond afterwards.
pub fn stage<A: Arming>(params: Params) -> Result<Box<dyn Stage>, StageError> {
    let (service, silent) = (A::start(), Calls::new(false));
    let mut deadlines = Deadlines::far();
    let one = |_| service.arm_counted(deadlines.after(clock::now_nanos()), silent);
    let armed = (0..params.timers.get()).map(one).collect();
    let idle = Idle {
        params,
        _armed: armed,
        service,
        silent,
        due: Calls::new(false),
    };
    // An implementation that receives requests as messages has received them then.
    idle.is_awake()?;
    Ok(Box::new(idle))
}
