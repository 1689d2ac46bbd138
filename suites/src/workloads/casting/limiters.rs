//! Castings of limiters: each form in which they are waited for.

use flowmeter_harness::executor::Executors;
use flowmeter_harness::limiter::{
    AsyncLimit, AsyncLimitDeadline, AsyncWeightedLimit, BlockingLimit, LimitDeadline, Limiters,
    WeightedLimit,
};
use flowmeter_harness::measure::{Stage, StageError};
use flowmeter_harness::registry::Contestant;

use super::{Casting, timing};
use crate::workloads::limiters::at_once::{self, Heavy, Several, TooLate, Until};
use crate::workloads::limiters::try_cost::Try;
use crate::workloads::limiters::{Acquiring, ByTask, ByThread, LimitForm, burst, steady, wakes};
use crate::workloads::solo::Alone;
use crate::workloads::{Work, refused};

impl Casting {
    /// A limiter that is only asked.
    pub fn limiter<L: Limiters>() -> Casting {
        Casting {
            takes_part: |work| matches!(work, Work::LimiterTry(_)),
            stage: |work, _| match work {
                Work::LimiterTry(params) => Ok(Box::new(Alone(Try::<L>::new(*params)?))),
                _ => Err(refused("to run that workload by asking")),
            },
            timing: |work| match work {
                Work::LimiterTry(params) => Some(timing(Try::<L>::new(*params))),
                _ => None,
            },
        }
    }

    /// A limiter that holds up threads.
    pub fn blocking_limit<L: BlockingLimit>() -> Casting {
        Casting {
            takes_part: |work| form(work) == Some(LimitForm::Blocking),
            stage: stage::<ByThread<L>>,
            timing: |_| None,
        }
    }

    /// A limiter that tasks of that executor wait for.
    pub fn async_limit<L: AsyncLimit, E: Executors>() -> Casting {
        Casting {
            takes_part: |work| form(work) == Some(LimitForm::Async),
            stage: stage::<ByTask<L, E>>,
            timing: |_| None,
        }
    }

    /// A limiter that threads ask for several permits.
    pub fn weighted_limit<L: WeightedLimit>() -> Casting {
        Casting {
            takes_part: |work| weighs(work) == Some(LimitForm::Blocking),
            ..heavy::<L, at_once::ByThread>()
        }
    }

    /// A limiter that futures ask for several permits.
    pub fn async_weighted_limit<L: AsyncWeightedLimit>() -> Casting {
        Casting {
            takes_part: |work| weighs(work) == Some(LimitForm::Async),
            ..heavy::<L, at_once::ByFuture>()
        }
    }

    /// A limiter that threads ask until a deadline.
    pub fn limit_deadline<L: LimitDeadline>() -> Casting {
        Casting {
            takes_part: |work| is_late(work) == Some(LimitForm::Blocking),
            ..too_late::<L, at_once::ByThread>()
        }
    }

    /// A limiter that futures ask until a deadline.
    pub fn async_limit_deadline<L: AsyncLimitDeadline>() -> Casting {
        Casting {
            takes_part: |work| is_late(work) == Some(LimitForm::Async),
            ..too_late::<L, at_once::ByFuture>()
        }
    }
}

fn heavy<L: Limiters, F: Several<L>>() -> Casting {
    Casting {
        takes_part: |work| weighs(work).is_some(),
        stage: |work, _| match work {
            Work::LimiterWeighted(params) => Ok(Box::new(Alone(Heavy::<L, F>::new(*params)?))),
            _ => Err(refused("to run that workload with weights")),
        },
        timing: |work| match work {
            Work::LimiterWeighted(params) => Some(timing(Heavy::<L, F>::new(*params))),
            _ => None,
        },
    }
}

fn too_late<L: Limiters, F: Until<L>>() -> Casting {
    Casting {
        takes_part: |work| is_late(work).is_some(),
        stage: |work, _| match work {
            Work::LimiterLate(params) => Ok(Box::new(Alone(TooLate::<L, F>::new(*params)?))),
            _ => Err(refused("to run that workload with a deadline")),
        },
        timing: |work| match work {
            Work::LimiterLate(params) => Some(timing(TooLate::<L, F>::new(*params))),
            _ => None,
        },
    }
}

/// The form of a workload whose acquisitions weigh.
fn weighs(work: &Work) -> Option<LimitForm> {
    match work {
        Work::LimiterWeighted(params) => Some(params.form),
        _ => None,
    }
}

/// The form of a workload whose acquisitions come too late.
fn is_late(work: &Work) -> Option<LimitForm> {
    match work {
        Work::LimiterLate(params) => Some(params.form),
        _ => None,
    }
}

/// The form of a workload that waits.
fn form(work: &Work) -> Option<LimitForm> {
    match work {
        Work::LimiterSteady(params) => Some(params.form),
        Work::LimiterBurst(params) => Some(params.form),
        Work::LimiterWakes(_) => Some(LimitForm::Async),
        _ => None,
    }
}

fn stage<A: Acquiring>(work: &Work, who: &Contestant) -> Result<Box<dyn Stage>, StageError> {
    match work {
        Work::LimiterSteady(params) => Ok(steady::stage::<A>(*params, who)),
        Work::LimiterBurst(params) => Ok(burst::stage::<A>(*params, who)),
        Work::LimiterWakes(params) => Ok(wakes::stage::<A>(*params, who)),
        _ => Err(refused("to run that workload with a limiter")),
    }
}
