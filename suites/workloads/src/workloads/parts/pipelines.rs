//! Castings of pipelines.

use flowmeter_harness::channel::Async;
use flowmeter_harness::executor::Executors;
use flowmeter_harness::pipeline::Pipelines;
use flowmeter_harness::timer::Sleep;

use super::Part;
use crate::workloads::Work;
use crate::workloads::pipelines::{flow, tasks};

/// A pipeline over those channels and on that executor, with tasks that sleep on that timer.
pub fn pipeline<P, C, E, S>(work: &Work) -> Option<Part>
where
    P: Pipelines<C, E> + Default,
    C: Async,
    E: Executors,
    S: Sleep,
{
    Some(match *work {
        Work::PipelineFlow(params) => Part::new(move |_| Ok(flow::stage::<P, C, E>(params))),
        Work::PipelineTasks(params) => Part::new(move |implementation| {
            let over_n = implementation.capabilities.bound_over_n.unwrap_or(0);
            Ok(tasks::stage::<P, C, E, S>(params, over_n))
        }),
        _ => return None,
    })
}
