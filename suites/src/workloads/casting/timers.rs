//! Castings of timers: each form in which they are waited for.

use flowmeter_harness::executor::Executors;
use flowmeter_harness::measure::StageError;
use flowmeter_harness::registry::Contestant;
use flowmeter_harness::timer::{BlockingSleep, Cancel, Reset, Sleep, Timers};

use super::{Casting, Staged, Timing, timing};
use crate::workloads::solo::{Alone, Solo};
use crate::workloads::timers::arming::{Arming, ByFuture, ByHandle, ByReset, Cancelling, Moving};
use crate::workloads::timers::churn::{self, Churn, Life};
use crate::workloads::timers::elsewhere::Elsewhere;
use crate::workloads::timers::moved::Moved;
use crate::workloads::timers::sleepers::{Awaiting, Calling, HoldingUp, Waiting};
use crate::workloads::timers::storm::{ByCallback, ByWaker, Raining};
use crate::workloads::timers::{
    TimerForm, arm, bystander, expiry, idle, lateness, storm, turnover,
};
use crate::workloads::{Work, refused};

impl Casting {
    /// A timer that calls back.
    pub fn timer<T: Timers>() -> Casting {
        Casting {
            takes_part: |work| form(work) == Some(TimerForm::Callback) && !calls_off(work),
            stage: stage::<Calling<T>, ByCallback<T>, ByHandle<T>>,
            timing: |_| None,
        }
    }

    /// A timer that can be called off.
    pub fn cancel<T: Cancel>() -> Casting {
        Casting {
            takes_part: |work| form(work) == Some(TimerForm::Callback) && calls_off(work),
            stage: |work, _| calling_off::<ByHandle<T>>(work).unwrap_or_else(other),
            timing: turning::<ByHandle<T>>,
        }
    }

    /// A timer whose deadlines can be moved; where that is asked for it goes before [`Casting::cancel`].
    pub fn reset<T: Reset>() -> Casting {
        Casting {
            takes_part: |work| form(work) == Some(TimerForm::Callback) && moved(work).is_some(),
            stage: |work, _| moving::<ByReset<T>, Staging>(work).unwrap_or_else(other),
            timing: |work| moving::<ByReset<T>, Turning>(work),
        }
    }

    /// A timer that futures wait for, in tasks of that executor.
    pub fn sleep<S: Sleep, E: Executors>() -> Casting {
        Casting {
            takes_part: |work| form(work) == Some(TimerForm::Async),
            stage: |work, who| {
                calling_off::<ByFuture<S>>(work)
                    .unwrap_or_else(|| stage::<Awaiting<S, E>, ByWaker<S>, ByFuture<S>>(work, who))
            },
            timing: turning::<ByFuture<S>>,
        }
    }

    /// A timer that threads wait for, one each: a reference beside the lateness of either form.
    pub fn blocking_sleep<S: BlockingSleep>() -> Casting {
        Casting {
            // A thread for each of thousands of timers would time the threads.
            takes_part: |work| matches!(work, Work::TimerLateness(_)),
            stage: |work, _| match work {
                Work::TimerLateness(params) => Ok(lateness::stage::<HoldingUp<S>>(*params)),
                _ => other(),
            },
            timing: |_| None,
        }
    }
}

/// The form of a timers' workload.
fn form(work: &Work) -> Option<TimerForm> {
    match work {
        Work::TimerArm(params) => Some(params.form),
        Work::TimerChurn(params) => Some(params.form),
        Work::TimerLateness(params) => Some(params.form),
        Work::TimerExpiry(params) => Some(params.form),
        Work::TimerStorm(params) => Some(params.form),
        Work::TimerIdle(params) => Some(params.form),
        Work::TimerTurnover(params) => Some(params.form),
        Work::TimerBystander(params) => Some(params.form),
        _ => None,
    }
}

/// Whether timers have to be called off in it.
fn calls_off(work: &Work) -> bool {
    matches!(
        work,
        Work::TimerChurn(_) | Work::TimerTurnover(_) | Work::TimerBystander(_)
    )
}

/// The parameters of a workload that moves timers.
fn moved(work: &Work) -> Option<churn::Params> {
    match work {
        Work::TimerChurn(params) if params.moves() => Some(*params),
        _ => None,
    }
}

/// What is made of a workload of a single thread.
trait Made {
    type Of;

    fn made<S: Solo + 'static>(solo: S) -> Self::Of;
}

/// A stage.
struct Staging;

impl Made for Staging {
    type Of = Staged;

    fn made<S: Solo + 'static>(solo: S) -> Staged {
        Ok(Box::new(Alone(solo)))
    }
}

/// What criterion asks for.
struct Turning;

impl Made for Turning {
    type Of = Result<Timing, StageError>;

    fn made<S: Solo + 'static>(solo: S) -> Self::Of {
        timing(Ok(solo))
    }
}

/// Where timers are called off; `None` of another workload.
fn calling_off<A: Cancelling + Moving>(work: &Work) -> Option<Staged> {
    match work {
        Work::TimerTurnover(params) => Some(Ok(turnover::stage::<A>(*params))),
        Work::TimerBystander(params) => Some(Ok(bystander::stage::<A>(*params))),
        _ => churning::<A, Staging>(work),
    }
}

/// By what becomes of timers; `None` of another workload.
fn churning<A: Cancelling + Moving, M: Made>(work: &Work) -> Option<M::Of> {
    let Work::TimerChurn(params) = work else {
        return None;
    };
    Some(match params.life {
        Life::Cancelled => M::made(Churn::<A>::new(*params)),
        Life::CancelledElsewhere => M::made(Elsewhere::<A>::new(*params)),
        Life::PutOff | Life::BroughtForward => return moving::<A, M>(work),
    })
}

/// For criterion, which times one thread: `None` of a workload of two.
fn turning<A: Cancelling + Moving>(work: &Work) -> Option<Result<Timing, StageError>> {
    match work {
        Work::TimerChurn(params) if params.is_of_one_thread() => churning::<A, Turning>(work),
        _ => None,
    }
}

fn moving<A: Moving, M: Made>(work: &Work) -> Option<M::Of> {
    moved(work).map(|params| M::made(Moved::<A>::new(params)))
}

fn other() -> Staged {
    Err(refused("to run that workload"))
}

fn stage<W: Waiting, R: Raining, A: Arming>(work: &Work, _who: &Contestant) -> Staged {
    match work {
        Work::TimerArm(params) => Ok(arm::stage::<A>(*params)),
        Work::TimerLateness(params) => Ok(lateness::stage::<W>(*params)),
        Work::TimerExpiry(params) => Ok(expiry::stage::<W>(*params)),
        Work::TimerStorm(params) => Ok(storm::stage::<R>(*params)),
        Work::TimerIdle(params) => idle::stage::<A>(*params),
        _ => other(),
    }
}
