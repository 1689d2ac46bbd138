//! Wakes: how often waiting tasks are woken for each permit.
//!
//! There are always many more waiting tasks than permits. One wake-up per permit is the ideal. A limiter that wakes
//! all tasks for each permit, or lets each of them check for itself, is identified here by its wake-ups, not only by
//! their cost. A poll for another reason than a wake-up counts as well; these futures have none.

use flowmeter_harness::registry::Registered;
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::Rate;
use super::acquirers::Acquiring;
use super::steady::Crowd;
use crate::scenario::{Facts, Form, Threads};

/// How many tasks at which rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// What is allowed.
    pub rate: Rate,
    /// Tasks that acquire.
    pub waiters: Threads,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Async,
            measure: Measure::Cost,
            unit: "wake-ups",
            axes: Axes {
                family: "limiter-wakes".to_owned(),
                rate: Some(self.rate.per_second()),
                waiting: Some(self.waiters.count()),
                ..Axes::default()
            },
        }
    }
}

struct Wakes<A>(Crowd<A>);

impl<A: Acquiring> Stage for Wakes<A> {
    fn prove(&mut self) -> Result<(), StageError> {
        self.0.prove()
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let crowded = self.0.acquire(spec)?;
        let wakes: u64 = crowded.grants.iter().map(|grant| grant.wakes).sum();
        let granted = crowded.grants.len() as u64;
        // No wake-up counts as a tenth of one: the values are compared by their ratios.
        let value = (wakes as f64 / granted as f64).max(0.1);
        Ok(Sample {
            findings: crowded.findings,
            ..Sample::new(value, granted, crowded.nanos, crowded.cost)
        })
    }
}

/// A stage of that implementation.
pub fn stage<A: Acquiring>(params: Params, asker: &Registered) -> Box<dyn Stage> {
    Box::new(Wakes(Crowd::<A>::at(params.rate, params.waiters, asker)))
}
