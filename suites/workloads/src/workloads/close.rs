//! Close: tasks that all wait for a value of one channel. Then its last producer is dropped, and each task is
//! answered that there will be none.
//!
//! The value is the time from the drop until the last task has ended, divided by the number of tasks. The producer is
//! dropped rather than closed: that ends a channel of every crate.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use flowmeter_harness::channel::{Async, TakeError};
use flowmeter_harness::executor::Executors;
use flowmeter_measure::reading::Cost;
use flowmeter_measure::{Sample, Stage, StageError, WindowSpec};
use flowmeter_records::{Axes, Measure};
use serde::{Deserialize, Serialize};

use super::ledger::{disproved, miscounted};
use super::pending::Pending;
use super::pieces::Pieces;
use super::{crew, open, refused};
use crate::scenario::{Facts, Form, Room, Within, cores};

/// How many tasks wait, and on which channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Waiting tasks; at most as many as a channel of core.async admits.
    pub waiting: Within<1, 1024>,
    /// The buffer, which stays empty.
    pub buffer: Room,
}

impl Params {
    /// The facts for records.
    pub fn facts(&self) -> Facts {
        Facts {
            form: Form::Async,
            measure: Measure::Cost,
            unit: "ns",
            axes: Axes {
                family: "close".to_owned(),
                producers: Some(1),
                consumers: Some(cores().get()),
                waiting: Some(self.waiting.count()),
                capacity: self.buffer.capacity(),
                unbounded: self.buffer == Room::Unbounded,
                message_bytes: Some(8),
                ..Axes::default()
            },
        }
    }
}

struct Close<C, E> {
    params: Params,
    executor: E,
    family: PhantomData<fn(C)>,
}

impl<C: Async, E: Executors> Close<C, E> {
    /// Lets all tasks wait and ends the channel. Returns how long it took until all were answered, in nanoseconds,
    /// the cost, and how many were answered wrongly or too early.
    fn once(&self) -> Result<(u64, Cost, u64), StageError> {
        let waiting = self.params.waiting.get();
        let (tx, rx) = open::<C, u64>(self.params.buffer.buffer())?;
        let pending = Pending::new(waiting);
        let begun = Arc::new(AtomicU64::new(0));
        let wrong = Arc::new(AtomicU64::new(0));
        for _ in 0..waiting {
            let mut rx = C::another_rx(&rx).ok_or_else(|| refused("another half"))?;
            let (pending, begun, wrong) = (pending.clone(), begun.clone(), wrong.clone());
            self.executor.spawn(async move {
                begun.fetch_add(1, Ordering::Relaxed);
                if C::take_async(&mut rx).await != Err(TakeError::Closed) {
                    wrong.fetch_add(1, Ordering::Relaxed);
                }
                pending.one_less();
            });
        }
        // All have begun, so all but the last few are waiting.
        while begun.load(Ordering::Relaxed) < waiting {
            thread::yield_now();
        }
        let early = waiting - pending.left();
        let (took, cost) = pending.timed(|| {
            drop(tx);
            Ok(())
        })?;
        // Relaxed: `pending` orders all tasks before this.
        let wrong = early + wrong.load(Ordering::Relaxed);
        Ok((took, cost, wrong))
    }
}

impl<C: Async, E: Executors> Stage for Close<C, E> {
    fn prove(&mut self) -> Result<(), StageError> {
        match self.once()? {
            (_, _, 0) => Ok(()),
            (_, _, wrong) => Err(disproved(unheard(wrong))),
        }
    }

    fn window(&mut self, spec: WindowSpec) -> Result<Sample, StageError> {
        let closes = Pieces::of(&spec, || match self.once()? {
            (took, cost, 0) => Ok((took, cost)),
            (_, _, wrong) => Err(miscounted(unheard(wrong))),
        })?;
        let tasks = closes.count * self.params.waiting.get();
        let value = closes.nanos as f64 / tasks as f64;
        Ok(Sample::new(value, tasks, closes.nanos, closes.cost))
    }
}

fn unheard(wrong: u64) -> String {
    format!("{wrong} takes were answered before the close, or something else than it")
}

/// A stage.
///
/// # Errors
/// Where its threads should have a core each, and cannot be pinned.
pub fn stage<C: Async, E: Executors>(params: Params) -> Result<Box<dyn Stage>, StageError> {
    Ok(Box::new(Close::<C, E> {
        params,
        executor: crew::executor(cores())?,
        family: PhantomData,
    }))
}
