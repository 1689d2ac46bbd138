//! Castings of pipelines.

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::Pipelines;
use flowmeter_harness::timer::Sleep;

use super::Casting;
use crate::workloads::pipelines::{flow, tasks};
use crate::workloads::{Work, refused};

impl Casting {
    /// A pipeline over those channels on that executor, whose tasks sleep on that timer.
    pub fn pipeline<P, C, E, S>() -> Casting
    where
        P: Pipelines<C, E> + Default,
        C: Async,
        E: Executors,
        S: Sleep,
    {
        Casting {
            takes_part: |work| matches!(work, Work::PipelineFlow(_) | Work::PipelineTasks(_)),
            stage: |work, who| match work {
                Work::PipelineFlow(params) => Ok(flow::stage::<P, C, E>(*params)),
                Work::PipelineTasks(params) => {
                    let over_n = who.capabilities.bound_over_n.unwrap_or(0);
                    Ok(tasks::stage::<P, C, E, S>(*params, over_n))
                }
                _ => Err(refused("to run that workload with a pipeline")),
            },
            timing: |_| None,
        }
    }
}
