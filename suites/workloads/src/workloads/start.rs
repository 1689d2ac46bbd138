//! The barrier of the threads and tasks of an interval: it begins when all have arrived.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use flowmeter_harness::executor::give_way;
use flowmeter_measure::WindowSpec;
use flowmeter_measure::interval::Interval;

/// The line at which all of them wait.
#[derive(Debug)]
pub struct Start {
    missing: AtomicUsize,
    interval: OnceLock<Interval>,
}

impl Start {
    /// For so many.
    pub fn of(count: usize) -> Arc<Start> {
        Arc::new(Start {
            missing: AtomicUsize::new(count),
            interval: OnceLock::new(),
        })
    }

    /// Waits until all have arrived; then the ramp begins.
    pub fn begin(&self, spec: &WindowSpec) -> Interval {
        while self.missing.load(Ordering::Acquire) > 0 {
            thread::yield_now();
        }
        *self.interval.get_or_init(|| Interval::begin(spec))
    }

    /// A thread arrives, and waits for the others.
    pub fn wait(&self) -> Interval {
        self.missing.fetch_sub(1, Ordering::Release);
        loop {
            match self.interval.get() {
                Some(interval) => return *interval,
                None => thread::yield_now(),
            }
        }
    }

    /// A task arrives, and waits for the others, which may need its thread to arrive.
    pub async fn wait_async(&self) -> Interval {
        self.missing.fetch_sub(1, Ordering::Release);
        loop {
            match self.interval.get() {
                Some(interval) => return *interval,
                None => give_way().await,
            }
        }
    }
}
