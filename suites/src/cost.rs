//! The modelled cost of channels: counts of shared accesses and allocations per message under fixed schedules, the same on
//! every machine.
//!
//! The scenarios are streams that are timed too, so that both numbers have one name. Each implementation is counted in a
//! process of its own, which may be that of the twins. `docs/cost.md` has the tables.

use std::time::Duration;

use flowmeter_harness::sync::World;
use flowmeter_harness::sync::cost::Pace;
use flowmeter_harness::sync::shuttle::Shuttle;
use flowmeter_records::ModelledCost;
use serde::{Deserialize, Serialize};

use crate::process::{self, Request};
use crate::properties::cost::Shape;
use crate::scenario::{Form, ScenarioSpec};
use crate::workloads::Work;
use crate::worlds::Worlds;

pub use flowmeter_harness::sync::cost::Keeping;

/// The world that counts.
pub(crate) const WORLD: &str = Shuttle::NAME;

/// All scenarios of one implementation, on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// The scenarios that are counted where none is named: from the least room to the most, then with more tasks.
pub(crate) const USUAL: [&str; 12] = [
    "channels/spsc-rendezvous",
    "channels/spsc-1",
    "channels/spsc-64",
    "channels/spsc-unbounded",
    "channels/mpsc-64",
    "channels/mpmc-64",
    "channels-async/spsc-rendezvous",
    "channels-async/spsc-1",
    "channels-async/spsc-64",
    "channels-async/spsc-unbounded",
    "channels-async/mpsc-64",
    "channels-async/mpmc-64",
];

/// The question to an implementation.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    implementation: String,
    shapes: Vec<(String, Shape)>,
}

impl Question {
    /// The world and the implementation.
    pub(crate) fn cell(&self) -> (&str, &str) {
        (WORLD, &self.implementation)
    }
}

/// The tasks and the channel of a scenario, if it is one that can be counted: a stream with both ends blocking, or both async.
pub(crate) fn shape(scenario: &ScenarioSpec) -> Option<Shape> {
    let Work::Stream(params) = &scenario.work else {
        return None;
    };
    Some(Shape {
        producers: params.producers.count(),
        consumers: params.consumers.count(),
        buffer: params.buffer.buffer(),
        awaits: match params.form {
            Form::Blocking => false,
            Form::Async => true,
            _ => return None,
        },
    })
}

/// The cost of an implementation in those of these scenarios that it has a channel for.
///
/// # Errors
/// When its process gives no answer: why, in a sentence.
pub(crate) fn ask(
    implementation: &str,
    shapes: &[(String, Shape)],
) -> Result<Vec<ModelledCost>, String> {
    let question = Question {
        implementation: implementation.to_owned(),
        shapes: shapes.to_vec(),
    };
    process::ask::<Result<Vec<ModelledCost>, String>>(&Request::Cost(question), LIMIT)?
}

/// The process of one implementation.
pub(crate) fn serve(worlds: &Worlds, question: &Question) -> Result<Vec<ModelledCost>, String> {
    if !Keeping::keep() {
        return Err(
            "this program uses addresses again, so that moves cannot be counted; make \
             flowmeter_suites::cost::Keeping its global allocator"
                .to_owned(),
        );
    }
    let name = &question.implementation;
    let shapes: Vec<Shape> = question.shapes.iter().map(|(_, shape)| *shape).collect();
    let prover = worlds.find(WORLD);
    let prover = prover.ok_or_else(|| format!("this program explores nothing under {WORLD}"))?;
    let costs = prover.costs(name, &shapes);
    let of_scenarios = question.shapes.iter().zip(costs);
    let rows = of_scenarios.flat_map(|((scenario, _), costs)| {
        let of_paces = Pace::ALL.into_iter().zip(costs);
        of_paces.filter_map(move |(pace, cost)| {
            let cost = cost?;
            Some(ModelledCost {
                scenario: scenario.clone(),
                implementation: name.clone(),
                pace,
                messages: cost.as_ref().map_or(0, |cost| cost.messages),
                counts: cost.as_ref().ok().map(|cost| cost.counts),
                error: cost.err(),
            })
        })
    });
    Ok(rows.collect())
}
