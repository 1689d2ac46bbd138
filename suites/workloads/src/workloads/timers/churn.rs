//! Churn: timers are armed and cancelled, while others stay armed.
//!
//! This is the life of most timers: the answer arrived in time. A timer is armed and cancelled again, by the thread
//! that armed it or by another. Or the timer of a connection is put off with each sign of life. A future is polled
//! once, which arms it, and dropped.

use std::hint::black_box;

use flowmeter_harness::sync::std::clock;
use flowmeter_measure::StageError;
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::TimerForm;
use super::arming::{Arming, Cancelling};
use super::calls::Calls;
use super::deadlines::Deadlines;
use crate::scenario::{Facts, Within};
use crate::workloads::ledger::disproved;
use crate::workloads::solo::Solo;

/// What happens to a timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Life {
    /// The thread that armed it cancels it.
    #[default]
    Cancelled,
    /// Another thread cancels it.
    CancelledElsewhere,
    /// One of those that stay armed is put off.
    PutOff,
    /// One of those that stay armed is brought forward, before all others.
    BroughtForward,
}

impl Life {
    const fn name(self) -> &'static str {
        match self {
            Life::Cancelled => "",
            Life::CancelledElsewhere => " called off elsewhere",
            Life::PutOff => " put off",
            Life::BroughtForward => " brought forward",
        }
    }
}

/// What happens to timers, and how many stay armed meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How firing is waited for.
    pub form: TimerForm,
    /// Timers that are armed in advance and never fire.
    pub outstanding: Within<0, 10_000_000>,
    /// What happens to the others.
    #[serde(default)]
    pub life: Life,
    /// Whether cancelled timers are due before all that stay armed, and not among them.
    #[serde(default)]
    pub soonest: bool,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: self.form.into(),
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: format!(
                    "timer-churn{}{}/{}",
                    self.life.name(),
                    if self.soonest { " of the soonest" } else { "" },
                    self.form.name()
                ),
                waiting: Some(self.outstanding.count()),
                ..Axes::default()
            },
        }
    }

    /// Whether one thread does all of it.
    pub fn is_of_one_thread(&self) -> bool {
        self.life != Life::CancelledElsewhere
    }

    /// Whether timers that stay armed are moved.
    pub fn moves(&self) -> bool {
        matches!(self.life, Life::PutOff | Life::BroughtForward)
    }

    /// The key that contradicts another one, and what was expected of it.
    pub fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        if self.moves() && self.outstanding.get() == 0 {
            return Some((
                "outstanding",
                "expected at least 1: these are what is moved",
            ));
        }
        let are_before_others = self.life == Life::Cancelled && self.outstanding.get() > 0;
        (self.soonest && !are_before_others).then_some((
            "soonest",
            "expected false: only those that are called off where they were armed can be before others that stay",
        ))
    }
}

/// That many timers that do not fire during the run.
pub(super) fn keep<A: Arming>(arming: &A, count: usize) -> Vec<A::Armed> {
    let mut far = Deadlines::far();
    let one = |_| arming.arm(far.after(clock::now_nanos()));
    (0..count).map(one).collect()
}

/// Shows that timers fire, once each and not early, with `between` run after arming each of them. A property proves
/// that cancelled ones do not fire.
pub(super) fn prove_firing<A: Arming>(
    arming: &A,
    mut between: impl FnMut() -> Result<(), StageError>,
) -> Result<(), StageError> {
    const TIMERS: u64 = 10;
    let calls = Calls::new(true);
    let mut armed = Vec::new();
    for _ in 0..TIMERS {
        let soon = clock::after(std::time::Duration::from_millis(3));
        armed.push(arming.arm_counted(soon, calls));
        between()?;
    }
    calls.wait_for(TIMERS)
}

/// Timers that are armed and cancelled by one thread.
pub struct Churn<A: Arming> {
    arming: A,
    _kept: Vec<A::Armed>,
    deadlines: Deadlines,
    /// The count of the timer that is due.
    due: &'static Calls,
}

impl<A: Cancelling> Churn<A> {
    /// With the outstanding timers armed.
    pub fn new(params: Params) -> Self {
        let arming = A::start();
        Churn {
            _kept: keep(&arming, params.outstanding.count()),
            deadlines: match params.soonest {
                true => Deadlines::soon(),
                false => Deadlines::far(),
            },
            due: Calls::new(false),
            arming,
        }
    }
}

/// So many turns.
fn turns<A: Cancelling>(
    arming: &A,
    deadlines: &mut Deadlines,
    turns: u64,
) -> Result<(), StageError> {
    // Read once: for some designs the clock costs more than all the rest.
    let now = clock::now_nanos();
    for _ in 0..turns {
        if !arming.arm_and_cancel(deadlines.after(now)) {
            return Err(disproved("a timer fired a second early, or more"));
        }
    }
    Ok(())
}

impl<A: Cancelling> Solo for Churn<A> {
    fn batch(&mut self, count: u64) -> Result<(), StageError> {
        turns(&self.arming, &mut self.deadlines, count)
    }

    fn bare(&mut self, turns: u64) {
        let now = clock::now_nanos();
        for _ in 0..turns {
            black_box(self.deadlines.after(now));
        }
    }

    fn settle(&mut self) -> Result<(), StageError> {
        self.arming.catch_up(self.due)
    }

    fn prove(&mut self) -> Result<(), StageError> {
        prove_firing(&self.arming, || turns(&self.arming, &mut self.deadlines, 1))
    }
}
