//! Castings of limiters: each form of waiting for a permit.

use flowmeter_harness::executor::Executors;
use flowmeter_harness::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, BlockingLimit, LimitDeadline, Limiters,
    WeightedLimit,
};

use super::Part;
use crate::workloads::Work;
use crate::workloads::limiters::at_once::{self, Heavy, Several, TooLate, Until};
use crate::workloads::limiters::try_cost::Try;
use crate::workloads::limiters::{Acquiring, ByTask, ByThread, LimitForm, burst, steady, wakes};

/// A limiter with tries only.
pub fn limiter<L: Limiters>(work: &Work) -> Option<Part> {
    match *work {
        Work::LimiterTry(params) => Some(Part::solo(move || Try::<L>::new(params))),
        _ => None,
    }
}

/// A limiter that blocks threads.
pub fn blocking_limit<L: BlockingLimit>(work: &Work) -> Option<Part> {
    acquiring::<ByThread<L>>(work, LimitForm::Blocking)
}

/// A limiter that tasks of that executor wait for.
pub fn async_limit<L: AsyncLimit, E: Executors>(work: &Work) -> Option<Part> {
    acquiring::<ByTask<L, E>>(work, LimitForm::Async)
}

/// A limiter with several permits at once, for threads.
pub fn weighted_limit<L: WeightedLimit>(work: &Work) -> Option<Part> {
    heavy::<L, at_once::ByThread>(work, LimitForm::Blocking)
}

/// A limiter with several permits at once, for futures.
pub fn async_weighted_limit<L: AsyncWeightedLimit>(work: &Work) -> Option<Part> {
    heavy::<L, at_once::ByFuture>(work, LimitForm::Async)
}

/// A limiter with deadlines, for threads.
pub fn limit_deadline<L: LimitDeadline>(work: &Work) -> Option<Part> {
    too_late::<L, at_once::ByThread>(work, LimitForm::Blocking)
}

/// A limiter with deadlines, for futures.
pub fn async_limit_deadline<L: AsyncLimitDeadline>(work: &Work) -> Option<Part> {
    too_late::<L, at_once::ByFuture>(work, LimitForm::Async)
}

fn acquiring<A: Acquiring>(work: &Work, form: LimitForm) -> Option<Part> {
    Some(match *work {
        Work::LimiterSteady(params) if params.form == form => {
            Part::new(move |implementation| Ok(steady::stage::<A>(params, implementation)))
        }
        Work::LimiterBurst(params) if params.form == form => {
            Part::new(move |implementation| Ok(burst::stage::<A>(params, implementation)))
        }
        Work::LimiterWakes(params) if form == LimitForm::Async => {
            Part::new(move |implementation| Ok(wakes::stage::<A>(params, implementation)))
        }
        _ => return None,
    })
}

fn heavy<L: Limiters, F: Several<L>>(work: &Work, form: LimitForm) -> Option<Part> {
    match *work {
        Work::LimiterWeighted(params) if params.form == form => {
            Some(Part::solo(move || Heavy::<L, F>::new(params)))
        }
        _ => None,
    }
}

fn too_late<L: Limiters, F: Until<L>>(work: &Work, form: LimitForm) -> Option<Part> {
    match *work {
        Work::LimiterLate(params) if params.form == form => {
            Some(Part::solo(move || TooLate::<L, F>::new(params)))
        }
        _ => None,
    }
}
