//! Castings of timers: each form in which they are waited for.

use flowmeter_harness::executor::Executors;
use flowmeter_harness::measure::{Stage, StageError};
use flowmeter_harness::registry::Contestant;
use flowmeter_harness::timer::{BlockingSleep, Cancel, Sleep, Timers};

use super::{Casting, timing};
use crate::workloads::solo::Alone;
use crate::workloads::timers::churn::{ByFuture, ByHandle, Churn};
use crate::workloads::timers::sleepers::{Awaiting, Calling, HoldingUp, Waiting};
use crate::workloads::timers::storm::{ByCallback, ByWaker, Raining};
use crate::workloads::timers::{TimerForm, expiry, lateness, storm};
use crate::workloads::{Work, refused};

impl Casting {
    /// A timer that calls back.
    pub fn timer<T: Timers>() -> Casting {
        Casting {
            takes_part: |work| {
                form(work) == Some(TimerForm::Callback) && !matches!(work, Work::TimerChurn(_))
            },
            stage: stage::<Calling<T>, ByCallback<T>>,
            timing: |_| None,
        }
    }

    /// A timer that can be called off.
    pub fn cancel<T: Cancel>() -> Casting {
        Casting {
            takes_part: |work| {
                form(work) == Some(TimerForm::Callback) && matches!(work, Work::TimerChurn(_))
            },
            stage: |work, _| match work {
                Work::TimerChurn(params) => Ok(Box::new(Alone(Churn::<ByHandle<T>>::new(*params)))),
                _ => Err(refused("to run that workload by cancelling")),
            },
            timing: |work| match work {
                Work::TimerChurn(params) => Some(timing(Ok(Churn::<ByHandle<T>>::new(*params)))),
                _ => None,
            },
        }
    }

    /// A timer that futures wait for, in tasks of that executor.
    pub fn sleep<S: Sleep, E: Executors>() -> Casting {
        Casting {
            takes_part: |work| form(work) == Some(TimerForm::Async),
            stage: |work, who| match work {
                Work::TimerChurn(params) => Ok(Box::new(Alone(Churn::<ByFuture<S>>::new(*params)))),
                other => stage::<Awaiting<S, E>, ByWaker<S>>(other, who),
            },
            timing: |work| match work {
                Work::TimerChurn(params) => Some(timing(Ok(Churn::<ByFuture<S>>::new(*params)))),
                _ => None,
            },
        }
    }

    /// A timer that threads wait for, one each: a reference beside the lateness of either form.
    pub fn blocking_sleep<S: BlockingSleep>() -> Casting {
        Casting {
            // A thread for each of thousands of timers would time the threads.
            takes_part: |work| matches!(work, Work::TimerLateness(_)),
            stage: |work, _| match work {
                Work::TimerLateness(params) => Ok(lateness::stage::<HoldingUp<S>>(*params)),
                _ => Err(refused("to run that workload in threads")),
            },
            timing: |_| None,
        }
    }
}

/// The form of a timers' workload.
fn form(work: &Work) -> Option<TimerForm> {
    match work {
        Work::TimerChurn(params) => Some(params.form),
        Work::TimerLateness(params) => Some(params.form),
        Work::TimerExpiry(params) => Some(params.form),
        Work::TimerStorm(params) => Some(params.form),
        _ => None,
    }
}

fn stage<W: Waiting, R: Raining>(
    work: &Work,
    _who: &Contestant,
) -> Result<Box<dyn Stage>, StageError> {
    match work {
        Work::TimerLateness(params) => Ok(lateness::stage::<W>(*params)),
        Work::TimerExpiry(params) => Ok(expiry::stage::<W>(*params)),
        Work::TimerStorm(params) => Ok(storm::stage::<R>(*params)),
        _ => Err(refused("to run that workload with a timer")),
    }
}
