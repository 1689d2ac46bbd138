//! Castings of limiters: each form in which they are waited for.

use flowmeter_harness::executor::Executors;
use flowmeter_harness::limiter::{AsyncLimit, BlockingLimit, Limiters};
use flowmeter_harness::measure::{Stage, StageError};
use flowmeter_harness::registry::Contestant;

use super::{Casting, timing};
use crate::workloads::limiters::try_cost::Try;
use crate::workloads::limiters::{Acquiring, ByTask, ByThread, LimitForm, burst, steady};
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
}

/// The form of a workload that waits.
fn form(work: &Work) -> Option<LimitForm> {
    match work {
        Work::LimiterSteady(params) => Some(params.form),
        Work::LimiterBurst(params) => Some(params.form),
        _ => None,
    }
}

fn stage<A: Acquiring>(work: &Work, who: &Contestant) -> Result<Box<dyn Stage>, StageError> {
    match work {
        Work::LimiterSteady(params) => Ok(steady::stage::<A>(*params, who)),
        Work::LimiterBurst(params) => Ok(burst::stage::<A>(*params, who)),
        _ => Err(refused("to run that workload with a limiter")),
    }
}
