//! Parked: tasks that each wait on a channel of their own, until all get a value.
//!
//! The value is the time from the first put until the last task has ended, divided by the number of tasks. There are
//! many more tasks than threads: waiting has to park the task and free its thread.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use flowmeter_harness::channel::{Async, Buffer, Offered};
use flowmeter_harness::executor::Executors;
use flowmeter_measure::reading::Cost;
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use crate::scenario::{Facts, Form, Threads, Within};
use crate::workloads::pending::Pending;
use crate::workloads::pieces::Pieces;
use crate::workloads::{crew, open, refused};

/// How many tasks on how many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Tasks that wait.
    pub tasks: Within<1, 1_000_000>,
    /// Threads of the executor.
    pub threads: Threads,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Async,
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: "parked".to_owned(),
                waiting: Some(self.tasks.count()),
                consumers: Some(self.threads.count()),
                ..Axes::default()
            },
        }
    }
}

struct Parked<E, C> {
    params: Params,
    executor: E,
    channels: PhantomData<fn(C)>,
}

impl<E: Executors, C: Async> Parked<E, C> {
    /// Parks all tasks and gives each its value. Returns how long that took, in nanoseconds, and the cost.
    fn once(&self) -> Result<(u64, Cost), StageError> {
        let tasks = self.params.tasks.get();
        let pending = Pending::new(tasks);
        let begun = Arc::new(AtomicU64::new(0));
        let mut puts = Vec::with_capacity(self.params.tasks.count());
        for _ in 0..tasks {
            let (tx, mut rx) = open::<C, u64>(Buffer::fixed(1))?;
            puts.push(tx);
            let (pending, begun) = (pending.clone(), begun.clone());
            self.executor.spawn(async move {
                begun.fetch_add(1, Ordering::Relaxed);
                if C::take_async(&mut rx).await.is_ok() {
                    pending.one_less();
                }
            });
        }
        // All have begun, so all but the last few are waiting.
        while begun.load(Ordering::Relaxed) < tasks {
            thread::yield_now();
        }
        pending.timed(|| {
            for (number, tx) in (0..).zip(&mut puts) {
                match C::offer(tx, number) {
                    Offered::Done => {}
                    Offered::WouldWait(_) | Offered::Closed(_) => {
                        return Err(refused("a value for an empty buffer"));
                    }
                }
            }
            Ok(())
        })
    }
}

impl<E: Executors, C: Async> Stage for Parked<E, C> {
    fn prove(&mut self) -> Result<(), StageError> {
        self.once().map(drop)
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let times = Pieces::of(&spec, || self.once())?;
        let tasks = times.count * self.params.tasks.get();
        let value = times.nanos as f64 / tasks as f64;
        Ok(Sample::new(value, tasks, times.nanos, times.cost))
    }
}

/// A stage.
///
/// # Errors
/// Where its threads should have a core each, and cannot be pinned.
pub fn stage<E: Executors, C: Async>(params: Params) -> Result<Box<dyn Stage>, StageError> {
    Ok(Box::new(Parked::<E, C> {
        params,
        executor: crew::executor(params.threads.non_zero())?,
        channels: PhantomData,
    }))
}
