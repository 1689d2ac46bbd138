//! Spawn and join: so many tasks that end at once, and a thread that waits for the last of them, over and over. The
//! value is the time of a task; how much of it is the one wake-up at the end depends on how many they are, which the
//! scenario says.

use flowmeter_harness::executor::Executors;
use flowmeter_harness::measure::StageError;
use flowmeter_harness::record::{Axes, Measure};
use serde::{Deserialize, Serialize};

use crate::scenario::{Facts, Form, Threads, Within};
use crate::workloads::crew;
use crate::workloads::pending::Pending;
use crate::workloads::solo::Solo;

/// On how many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Threads of the executor.
    pub threads: Threads,
    /// Tasks between two waits.
    pub tasks: Within<1, 1_000_000>,
}

impl Params {
    /// What records say of it.
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
    /// On a new executor.
    ///
    /// # Errors
    /// Where its threads were to have a core each, and cannot be pinned.
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
}
