//! A number of tasks that a thread waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use flowmeter_harness::sync::std::clock;
use flowmeter_measure::StageError;
use flowmeter_measure::reading::{Cost, Reading};
use flowmeter_records::FailureKind;

/// The number of tasks that have not ended, and the thread that waits for them.
#[derive(Debug)]
pub struct Pending {
    tasks: AtomicU64,
    waiter: Thread,
}

impl Pending {
    /// For so many tasks, with this thread as the waiter.
    pub fn new(tasks: u64) -> Arc<Pending> {
        Arc::new(Pending {
            tasks: AtomicU64::new(tasks),
            waiter: thread::current(),
        })
    }

    /// One task has ended.
    pub fn one_less(&self) {
        // AcqRel: the last task is ordered after all others, and the waiter after the last.
        if self.tasks.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.waiter.unpark();
        }
    }

    /// How many have not ended.
    pub fn left(&self) -> u64 {
        self.tasks.load(Ordering::Acquire)
    }

    /// Waits for the last of them.
    ///
    /// # Errors
    /// When some have not ended within ten seconds.
    pub fn wait(&self) -> Result<(), StageError> {
        const PATIENCE: Duration = Duration::from_secs(10);
        let began = Instant::now();
        loop {
            match self.tasks.load(Ordering::Acquire) {
                0 => return Ok(()),
                left if began.elapsed() > PATIENCE => {
                    return Err(StageError {
                        kind: FailureKind::Hang,
                        message: format!("{left} tasks had not ended after 10 s"),
                    });
                }
                _ => thread::park_timeout(PATIENCE),
            }
        }
    }
    /// Runs `act`, which ends all of them. Returns how long it took until the last had ended, in nanoseconds, and the
    /// cost.
    ///
    /// # Errors
    /// The error of `act`, or as [`Pending::wait`].
    pub fn timed(
        &self,
        ends: impl FnOnce() -> Result<(), StageError>,
    ) -> Result<(u64, Cost), StageError> {
        let first = Reading::first(clock::now_nanos());
        ends()?;
        self.wait()?;
        let last = Reading::last(clock::now_nanos());
        let took = last.nanos - first.nanos;
        Ok((took, last.since(&first, took)))
    }
}
