//! The two edges of a window, for many threads at once and without a sampling thread.
//!
//! A window begins when the last thread of its workload has started to run ([`Edges::begin`]). The ramp comes first:
//! untimed work of all threads. The first edge is at its end, the second edge a window later. Each thread works in
//! chunks of k operations and reads the clock once per chunk.
//!
//! If a chunk of a *counting* thread spans an edge, the thread divides the chunk at the edge in proportion to time. So
//! every thread is counted over the same interval, from edge to edge, even if it slept across an edge. The rate is the
//! sum of their operations over that interval. After the second edge threads go on until every counting thread has
//! passed it, so that counting happens while all run. They go on for at most 5 ms: a thread that still sleeps then is
//! woken by the end.
//!
//! k adapts between 1 and 1024. It doubles while a chunk takes less than 20 us and halves above 100 us, so the cost of
//! reading the clock is negligible. Within 200 us of an edge chunks are a sixteenth as long, so that little has to be
//! divided.
//!
//! The first thread to pass an edge reads CPU time, context switches and, where the process counts them, allocations,
//! together with the clock. Their differences are scaled from the interval between the two readings to the window. They
//! are unknown if the readings are less than half a window apart.
//!
//! **A copy slowed on purpose** ([`WindowSpec::slowed_percent`]) stands still for p percent of the timed interval: in
//! [`PAUSES`] pauses at moments that all threads share. Separate pauses per thread would not work. Where one thread
//! waits for another anyway, the wait hides its pause (too little), or the pauses of two threads add up (too much,
//! twice p at a rendezvous). Operations longer than a pause (window * p / 100 / [`PAUSES`]) may skip it.
//! [`PAUSES`]) may step over it.
//!
//! ```
//! use flowmeter_measure::{WindowSpec, edges::Edges};
//!
//! let spec = WindowSpec { ramp_nanos: 1_000_000, nanos: 5_000_000, slowed_percent: None, seed: 1 };
//! let edges = Edges::new(&spec, 1); // one thread will count
//! let mut counter = edges.counter();
//! let mut turns = 0_u64;
//! edges.begin();
//! loop {
//!     for _ in 0..counter.chunk() {
//!         turns = std::hint::black_box(turns + 1);
//!     }
//!     let done = u64::from(counter.chunk());
//!     if counter.lap(done).is_break() {
//!         break;
//!     }
//! }
//! let sample = edges.sample(&[counter.finish()])?;
//! assert!(sample.operations > 0 && sample.value > 0.0);
//! # Ok::<(), flowmeter_measure::StageError>(())
//! ```

mod counter;
mod laps;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::clock;
use super::reading::{Cost, Reading};
use super::{Sample, StageError, WindowSpec};
use flowmeter_records::FailureKind;

pub use counter::{Counted, Counter};
pub use laps::{Laps, MAX_CHUNK};

/// Pauses in the window of a copy slowed on purpose.
pub const PAUSES: u64 = 5;

/// The edges of one window. Cloning gives another handle to the same window.
#[derive(Clone, Debug)]
pub struct Edges {
    ramp: u64,
    nanos: u64,
    slowed_percent: u32,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// When the ramp began; `u64::MAX` before.
    begins: AtomicU64,
    /// Counting threads that have not passed the second edge.
    counting: AtomicUsize,
    /// The readings of the process, taken by the first thread to pass each edge.
    used_at_first: OnceLock<Reading>,
    used_at_last: OnceLock<Reading>,
}

impl Edges {
    /// Edges of a window with `counting` counting threads. The window starts at [`begin`](Edges::begin).
    pub fn new(spec: &WindowSpec, counting: usize) -> Edges {
        Edges {
            ramp: spec.ramp_nanos,
            nanos: spec.nanos.max(1),
            slowed_percent: spec.slowed_percent.unwrap_or(0).min(99),
            shared: Arc::new(Shared {
                begins: AtomicU64::new(u64::MAX),
                counting: AtomicUsize::new(counting),
                used_at_first: OnceLock::new(),
                used_at_last: OnceLock::new(),
            }),
        }
    }

    /// Starts the ramp. All threads of the workload run by now.
    pub fn begin(&self) {
        self.begin_at(clock::now_nanos());
    }

    fn begin_at(&self, now: u64) {
        // Relaxed: an independent value. A thread that sees it late still divides its chunk at it.
        self.shared.begins.store(now, Ordering::Relaxed);
    }

    /// When the ramp began, on [`clock::now_nanos`]; `None` before [`Edges::begin`].
    pub fn began_nanos(&self) -> Option<u64> {
        let begins = self.begins();
        (begins != u64::MAX).then_some(begins)
    }

    #[inline]
    fn begins(&self) -> u64 {
        // Relaxed: see `Edges::begin_at`.
        self.shared.begins.load(Ordering::Relaxed)
    }

    /// The first edge on [`clock::now_nanos`]; never (`u64::MAX`) before [`Edges::begin`].
    pub fn first_nanos(&self) -> u64 {
        self.begins().saturating_add(self.ramp)
    }

    /// The second edge on [`clock::now_nanos`]; never (`u64::MAX`) before [`Edges::begin`].
    pub fn last_nanos(&self) -> u64 {
        self.first_nanos().saturating_add(self.nanos)
    }

    /// Whether every counting thread has passed the second edge: time to stop.
    #[inline]
    pub fn over(&self) -> bool {
        // Relaxed: only a hint to stop. Results travel by joining the threads.
        self.shared.counting.load(Ordering::Relaxed) == 0
    }

    fn leave(&self) {
        // Relaxed: see `Edges::over`.
        self.shared.counting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Chunks of a thread that works but does not count (a producer, if the consumers count).
    pub fn laps(&self) -> Laps {
        Laps::of(self)
    }

    /// Chunks of a counting thread. Make as many as were passed to [`Edges::new`].
    pub fn counter(&self) -> Counter {
        Counter::of(self)
    }

    /// The sample of the counting threads; its value is operations per second.
    ///
    /// # Errors
    /// [`FailureKind::Void`] when nothing was counted, or when a thread ended before it passed both edges.
    pub fn sample(&self, counted: &[Option<Counted>]) -> Result<Sample, StageError> {
        let void = |message: &str| StageError {
            kind: FailureKind::Void,
            message: message.to_owned(),
        };
        let counted: Option<Vec<Counted>> = counted.iter().copied().collect();
        let counted =
            counted.ok_or_else(|| void("a counting thread ended before the window did"))?;
        let operations: f64 = counted.iter().map(|c| c.operations).sum();
        if operations <= 0.0 {
            return Err(void("no operation completed between the edges"));
        }
        Ok(Sample::new(
            operations / self.nanos as f64 * 1e9,
            (operations.round() as u64).max(1),
            self.nanos,
            self.cost(),
        ))
    }

    /// The cost between the edges, scaled from the interval between the two readings. Unknown if these are less than
    /// half a window apart.
    pub fn cost(&self) -> Cost {
        let readings = self
            .shared
            .used_at_first
            .get()
            .zip(self.shared.used_at_last.get());
        let far_enough = |first: &Reading, last: &Reading| {
            last.nanos.saturating_sub(first.nanos) >= (self.nanos / 2).max(1)
        };
        match readings.filter(|(first, last)| far_enough(first, last)) {
            Some((first, last)) => last.since(first, self.nanos),
            None => Cost::default(),
        }
    }

    /// The end of the shared pause in which `now` falls.
    fn pause_end(&self, now: u64) -> Option<u64> {
        if self.slowed_percent == 0 {
            return None;
        }
        let first = self.first_nanos();
        if now < first || now >= self.last_nanos() {
            return None;
        }
        let period = (self.nanos / PAUSES).max(1);
        let pause = period * u64::from(self.slowed_percent) / 100;
        // In the middle of each period, away from both edges.
        let begins = (period - pause) / 2;
        let into = (now - first) % period;
        (into >= begins && into < begins + pause).then(|| now - into + begins + pause)
    }
}

#[cfg(test)]
mod tests {
    use super::super::usage::Usage;
    use super::*;

    pub(super) const RAMP: u64 = 1_000_000;
    pub(super) const WINDOW: u64 = 50_000_000;

    pub(super) fn edges(counting: usize, slowed_percent: Option<u32>) -> Edges {
        let spec = WindowSpec {
            ramp_nanos: RAMP,
            nanos: WINDOW,
            slowed_percent,
            seed: 0,
        };
        let edges = Edges::new(&spec, counting);
        edges.begin_at(0);
        edges
    }

    #[test]
    fn usage_is_scaled_to_the_window() {
        let edges = edges(1, None);
        let reading = |nanos, cpu_nanos| Reading {
            nanos,
            used: Some(Usage {
                cpu_nanos,
                voluntary_switches: 0,
                involuntary_switches: 0,
            }),
            counted: None,
            allocated: None,
        };
        let shared = &edges.shared;
        shared.used_at_first.set(reading(RAMP, 500)).expect("unset");
        let late = RAMP + WINDOW * 5 / 4;
        shared
            .used_at_last
            .set(reading(late, 10_500))
            .expect("unset");
        assert_eq!(edges.cost().used.map(|used| used.cpu_nanos), Some(8_000));
    }

    #[test]
    fn a_thread_that_ends_early_voids_the_window_and_lets_the_others_end() {
        let edges = edges(1, None);
        let counter = edges.counter();
        let counted = counter.finish();
        assert_eq!(counted, None);
        assert!(edges.over());
        let error = edges.sample(&[counted]).expect_err("nothing to show");
        assert_eq!(error.kind, FailureKind::Void);
    }

    #[test]
    fn a_slowed_copy_stands_still_for_its_share_of_the_window() {
        for percent in [0, 1, 10, 50] {
            let edges = edges(1, Some(percent));
            let step = 1_000;
            let paused = (0..RAMP + 2 * WINDOW)
                .step_by(step)
                .filter(|&now| edges.pause_end(now).is_some())
                .count() as u64;
            let share = paused as f64 * step as f64 / WINDOW as f64 * 100.0;
            assert!(
                (share - f64::from(percent)).abs() < 0.1,
                "{share} of {percent}"
            );
        }
    }

    #[test]
    fn a_pause_ends_after_it_began_and_is_then_over() {
        let edges = edges(1, Some(10));
        // Period 10 ms, pause 1 ms in its middle: 4.5 to 5.5 ms after the first edge.
        assert_eq!(edges.pause_end(RAMP + 4_499_999), None);
        assert_eq!(edges.pause_end(RAMP + 4_500_000), Some(RAMP + 5_500_000));
        assert_eq!(edges.pause_end(RAMP + 5_499_999), Some(RAMP + 5_500_000));
        assert_eq!(edges.pause_end(RAMP + 5_500_000), None);
    }
}
