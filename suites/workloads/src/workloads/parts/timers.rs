//! Castings of timers: each form of waiting for a deadline.

use flowmeter_harness::caps::Kind;
use flowmeter_harness::executor::Executors;
use flowmeter_harness::timer::{BlockingSleep, Cancel, Reset, Sleep, Timers};

use super::Part;
use crate::scenario::Form;
use crate::workloads::timers::arming::{Arming, ByFuture, ByHandle, ByReset, Cancelling, Moving};
use crate::workloads::timers::churn::{Churn, Life};
use crate::workloads::timers::elsewhere::Elsewhere;
use crate::workloads::timers::moved::Moved;
use crate::workloads::timers::sleepers::{Awaiting, Calling, HoldingUp, Waiting};
use crate::workloads::timers::storm::{ByCallback, ByWaker, Raining};
use crate::workloads::timers::{arm, bystander, expiry, idle, lateness, storm, turnover};
use crate::workloads::{Needs, Work};

/// A timer that calls back.
pub fn timer<T: Timers>(work: &Work) -> Option<Part> {
    is_of(work, Form::Callback).then(|| firing::<Calling<T>, ByCallback<T>, ByHandle<T>>(work))?
}

/// A timer that can be cancelled.
pub fn cancel<T: Cancel>(work: &Work) -> Option<Part> {
    is_of(work, Form::Callback).then(|| calling_off::<ByHandle<T>>(work))?
}

/// A timer with deadlines that can be moved. Where that is needed it takes precedence over [`cancel`].
pub fn reset<T: Reset>(work: &Work) -> Option<Part> {
    is_of(work, Form::Callback).then(|| moving::<ByReset<T>>(work))?
}

/// A timer that futures wait for, in tasks of that executor.
pub fn sleep<S: Sleep, E: Executors>(work: &Work) -> Option<Part> {
    is_of(work, Form::Async).then(|| {
        calling_off::<ByFuture<S>>(work)
            .or_else(|| firing::<Awaiting<S, E>, ByWaker<S>, ByFuture<S>>(work))
    })?
}

/// A timer that threads wait for, one each: a reference for the lateness of the other forms.
pub fn blocking_sleep<S: BlockingSleep>(work: &Work) -> Option<Part> {
    match *work {
        // With a thread for each of thousands of timers, the threads would be timed.
        Work::TimerLateness(params) => Some(Part::new(move |_| {
            Ok(lateness::stage::<HoldingUp<S>>(params))
        })),
        _ => None,
    }
}

fn is_of(work: &Work, form: Form) -> bool {
    work.needs() == Needs::Other(Kind::Timer) && work.facts().form == form
}

/// Workloads in which timers fire.
fn firing<W: Waiting, R: Raining, A: Arming>(work: &Work) -> Option<Part> {
    Some(match *work {
        Work::TimerArm(params) => Part::new(move |_| Ok(arm::stage::<A>(params))),
        Work::TimerLateness(params) => Part::new(move |_| Ok(lateness::stage::<W>(params))),
        Work::TimerExpiry(params) => Part::new(move |_| Ok(expiry::stage::<W>(params))),
        Work::TimerStorm(params) => Part::new(move |_| Ok(storm::stage::<R>(params))),
        Work::TimerIdle(params) => Part::new(move |_| idle::stage::<A>(params)),
        _ => return None,
    })
}

/// Workloads in which timers are cancelled.
fn calling_off<A: Cancelling + Moving>(work: &Work) -> Option<Part> {
    Some(match *work {
        Work::TimerTurnover(params) => Part::new(move |_| Ok(turnover::stage::<A>(params))),
        Work::TimerBystander(params) => Part::new(move |_| Ok(bystander::stage::<A>(params))),
        Work::TimerChurn(params) => match params.life {
            Life::Cancelled => Part::solo(move || Ok(Churn::<A>::new(params))),
            Life::CancelledElsewhere => Part::counted(move || Ok(Elsewhere::<A>::new(params))),
            Life::PutOff | Life::BroughtForward => return moving::<A>(work),
        },
        _ => return None,
    })
}

/// Workloads in which timers are moved.
fn moving<A: Moving>(work: &Work) -> Option<Part> {
    match *work {
        Work::TimerChurn(params) if params.moves() => {
            Some(Part::solo(move || Ok(Moved::<A>::new(params))))
        }
        _ => None,
    }
}
