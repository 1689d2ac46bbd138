//! Spawn and join: a number of tasks that end at once, and a thread that waits for the last of them, repeatedly. The
//! value is the time per task. It includes one wake-up for each repetition; the scenario says how many tasks share
//! it.

use flowmeter_harness::executor::Executors;
use flowmeter_measure::StageError;
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use crate::scenario::{Facts, Form, Threads, Within};
use crate::workloads::crew;
use crate::workloads::pending::Pending;
use crate::workloads::solo::Solo;

/// The number of threads and tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Threads of the executor.
    pub threads: Threads,
    /// Tasks between two waits.
    pub tasks: Within<1, 1_000_000>,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Async,
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: "spawn-join".to_owned(),
                consumers: Some(self.threads.count()),
                waiting: Some(self.tasks.count()),
                ..Axes::default()
            },
        }
    }
}

/// Tasks without work.
pub struct SpawnJoin<E> {
    executor: E,
    tasks: u64,
}

impl<E: Executors> SpawnJoin<E> {
    /// With a new executor.
    ///
    /// # Errors
    /// Where its threads should have a core each, and cannot be pinned.
    pub fn new(params: Params) -> Result<Self, StageError> {
        Ok(SpawnJoin {
            executor: crew::executor(params.threads.non_zero())?,
            tasks: params.tasks.get(),
        })
    }
}

impl<E: Executors> Solo for SpawnJoin<E> {
    fn operations(&self) -> u64 {
        self.tasks
    }

    fn batch(&mut self, turns: u64) -> Result<(), StageError> {
        for _ in 0..turns {
            let pending = Pending::new(self.tasks);
            for _ in 0..self.tasks {
                let pending = pending.clone();
                self.executor.spawn(async move { pending.one_less() });
            }
            pending.wait()?;
        }
        Ok(())
    }

    fn bare(&mut self, turns: u64) {
        for _ in 0..turns {
            let pending = Pending::new(self.tasks);
            for _ in 0..self.tasks {
                pending.clone().one_less();
            }
        }
    }
}
