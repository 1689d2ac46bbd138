//! Castings of limiters: each form in which they are waited for.

use flowmeter_harness::executor::Executors;
use flowmeter_harness::limiter::{AsyncLimit, BlockingLimit, Limiters};
use flowmeter_harness::measure::{Stage, StageError};

use super::{Casting, timing};
use crate::workloads::limiters::try_cost::Try;
use crate::workloads::limiters::{Acquiring, ByTask, ByThread, burst, steady};
use crate::workloads::solo::Alone;
use crate::workloads::{Work, refused};

impl Casting {
    /// A limiter that is only asked.
    pub fn limiter<L: Limiters>() -> Casting {
        Casting {
            takes_part: |work| matches!(work, Work::LimiterTry(_)),
            stage: |work| match work {
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
            takes_part: waits,
            stage: stage::<ByThread<L>>,
            timing: |_| None,
        }
    }

    /// A limiter that tasks of that executor wait for.
    pub fn async_limit<L: AsyncLimit, E: Executors>() -> Casting {
        Casting {
            takes_part: waits,
            stage: stage::<ByTask<L, E>>,
            timing: |_| None,
        }
    }
}

fn waits(work: &Work) -> bool {
    matches!(work, Work::LimiterSteady(_) | Work::LimiterBurst(_))
}

fn stage<A: Acquiring>(work: &Work) -> Result<Box<dyn Stage>, StageError> {
    match work {
        Work::LimiterSteady(params) => Ok(steady::stage::<A>(*params)),
        Work::LimiterBurst(params) => Ok(burst::stage::<A>(*params)),
        _ => Err(refused("to run that workload with a limiter")),
    }
}
