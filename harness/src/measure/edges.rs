//! The two edges of a window, for many threads at once and without a thread that samples.
//!
//! A window begins when the last thread of its workload has started to run ([`Edges::begin`]): the ramp is
//! untimed work of all of them, the first edge stands at its end, the second a window later. Each thread works
//! in chunks of k operations and reads the clock once a chunk. A *counting* thread whose chunk spans an edge
//! divides the chunk at the edge in proportion to time, so every thread is counted over the same interval, from
//! edge to edge, also one that slept across an edge; the rate is all their operations over that interval.
//! Threads go on after the second edge until every counting thread has passed it, so that what is counted is
//! counted while all run, but no longer than 5 ms: one that sleeps then is woken by the end.
//!
//! k adapts: it doubles while a chunk takes less than 20 us and halves above 100 us, between 1 and 1024, so
//! that reading the clock costs next to nothing and little is left to be divided.
//!
//! CPU time and context switches are read by whoever passes an edge first, together with the clock, and
//! scaled from the interval between the two readings to the window; where they lie less than half a window
//! apart they are not known.
//!
//! **A copy slowed on purpose** ([`WindowSpec::slowed_percent`]) stands still for p percent of the timed
//! interval: in [`PAUSES`] pauses at moments that all threads share. Pausing each thread for itself would
//! not do: where one thread waits for another anyway, its pause is hidden by the wait (too little) or two
//! threads' pauses add up (too much, twice p at a rendezvous). Operations longer than a pause (window * p / 100 /
//! [`PAUSES`]) may step over it.
//!
//! ```
//! use flowmeter_harness::measure::{WindowSpec, edges::Edges};
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
//! # Ok::<(), flowmeter_harness::measure::StageError>(())
//! ```

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::clock;
use super::usage::{self, Usage};
use super::{Sample, StageError, WindowSpec};
use crate::record::{FailureKind, Findings};

/// A chunk shorter than this is doubled, nanoseconds.
const SHORT_CHUNK: u64 = 20_000;
/// A chunk longer than this is halved, nanoseconds.
const LONG_CHUNK: u64 = 100_000;
/// Operations in a chunk at most.
pub const MAX_CHUNK: u32 = 1024;
/// Pauses in the window of a copy slowed on purpose.
pub const PAUSES: u64 = 5;
/// How long workers wait after the second edge for a counting thread to pass it, nanoseconds.
const GRACE: u64 = 5_000_000;

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
    /// Of the process, read by whoever passed that edge first.
    used_at_first: OnceLock<Reading>,
    used_at_last: OnceLock<Reading>,
}

/// What the process had used, and when that was read.
#[derive(Clone, Copy, Debug)]
struct Reading {
    nanos: u64,
    usage: Option<Usage>,
}

impl Reading {
    fn at(nanos: u64) -> Reading {
        Reading {
            nanos,
            usage: usage::now(),
        }
    }
}

impl Edges {
    /// Edges of a window in which `counting` threads will count, and that has yet to [`begin`](Edges::begin).
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

    /// The ramp begins now: everybody who takes part runs.
    pub fn begin(&self) {
        self.begin_at(clock::now_nanos());
    }

    fn begin_at(&self, now: u64) {
        // Relaxed: a moment that stands for itself; whoever sees it late divides the chunk at it all the same.
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
        // Relaxed: a hint to stop that orders nothing; results travel by joining the threads.
        self.shared.counting.load(Ordering::Relaxed) == 0
    }

    fn leave(&self) {
        // Relaxed: see `Edges::over`.
        self.shared.counting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Chunks of a thread that works but does not count (a producer, where consumers count).
    pub fn laps(&self) -> Laps {
        Laps {
            chunk: 1,
            began: clock::now_nanos(),
            next_edge: 0,
            gives_up: u64::MAX,
            edges: self.clone(),
        }
    }

    /// Chunks of a thread that counts; make as many as [`Edges::new`] was told.
    pub fn counter(&self) -> Counter {
        Counter {
            laps: self.laps(),
            operations: 0,
            at_first: None,
            at_last: None,
        }
    }

    /// The sample of what the counting threads counted, its value in operations per second.
    ///
    /// # Errors
    /// [`FailureKind::Void`] when nothing was counted or a thread did not live to see both edges.
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
        let used = self.used();
        Ok(Sample {
            value: operations / self.nanos as f64 * 1e9,
            operations: (operations.round() as u64).max(1),
            nanos: self.nanos,
            cpu_nanos: used.map(|u| u.cpu_nanos),
            voluntary_switches: used.map(|u| u.voluntary_switches),
            involuntary_switches: used.map(|u| u.involuntary_switches),
            unsustained: None,
            generator_p99_nanos: None,
            latency: None,
            findings: Findings::default(),
        })
    }

    /// What the process used between the edges, scaled from the interval between the two readings; `None`
    /// where the system does not say, or the readings lie less than half a window apart.
    pub fn used(&self) -> Option<Usage> {
        let first = self.shared.used_at_first.get()?;
        let last = self.shared.used_at_last.get()?;
        let apart = last.nanos.saturating_sub(first.nanos);
        let used = last.usage?.since(first.usage?);
        (apart > 0 && apart >= self.nanos / 2)
            .then(|| used.scaled(self.nanos as f64 / apart as f64))
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

/// The chunks of one thread.
#[derive(Debug)]
pub struct Laps {
    chunk: u32,
    began: u64,
    /// The edge to pass next: 0 before the window began, never once both are passed.
    next_edge: u64,
    /// When to stop though not all counting threads have passed the second edge.
    gives_up: u64,
    edges: Edges,
}

impl Laps {
    /// How many operations to do before the next [`Laps::lap`].
    #[inline]
    pub fn chunk(&self) -> u32 {
        self.chunk
    }

    /// Ends a chunk: reads the clock, adapts the chunk, stands still where a copy is slowed on purpose.
    /// `Break` once every counting thread has passed the second edge, or has had time enough to.
    #[inline]
    pub fn lap(&mut self) -> ControlFlow<()> {
        let now = clock::now_nanos();
        self.end_chunk(now)
    }

    /// Time that passes between two chunks, of which it is no part; otherwise as [`Laps::lap`].
    pub fn idle(&mut self) -> ControlFlow<()> {
        let now = clock::now_nanos();
        self.began = now;
        self.look(now)
    }

    #[inline]
    fn end_chunk(&mut self, now: u64) -> ControlFlow<()> {
        let took = now.saturating_sub(self.began);
        if took < SHORT_CHUNK {
            self.chunk = (self.chunk * 2).min(MAX_CHUNK);
        } else if took > LONG_CHUNK {
            self.chunk = (self.chunk / 2).max(1);
        }
        self.began = match self.edges.pause_end(now) {
            None => now,
            Some(end) => clock::spin_until(end),
        };
        self.look(now)
    }

    /// Notes edges, and says whether it is over.
    #[inline]
    fn look(&mut self, now: u64) -> ControlFlow<()> {
        if now >= self.next_edge {
            self.pass(now);
        }
        if self.edges.over() || now >= self.gives_up {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// At an edge, or before the window began.
    #[cold]
    fn pass(&mut self, now: u64) {
        let (first, last) = (self.edges.first_nanos(), self.edges.last_nanos());
        if now < first {
            if first != u64::MAX {
                self.next_edge = first;
            }
            return;
        }
        let shared = &self.edges.shared;
        shared.used_at_first.get_or_init(|| Reading::at(now));
        self.next_edge = last;
        if now >= last {
            shared.used_at_last.get_or_init(|| Reading::at(now));
            self.next_edge = u64::MAX;
            self.gives_up = last.saturating_add(GRACE);
        }
    }
}

/// What one thread counted from edge to edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// Operations, with the shares of the chunks that span the edges.
    pub operations: f64,
}

/// The chunks of one thread that counts.
///
/// One that is dropped before it passed the second edge, because its thread panicked or ended, counts as
/// having passed, so that the other threads of the window end too.
#[derive(Debug)]
pub struct Counter {
    laps: Laps,
    operations: u64,
    /// Operations until the edge.
    at_first: Option<f64>,
    at_last: Option<f64>,
}

impl Counter {
    /// How many operations to do before the next [`Counter::lap`].
    #[inline]
    pub fn chunk(&self) -> u32 {
        self.laps.chunk()
    }

    /// Ends a chunk in which `operations` were done; otherwise as [`Laps::lap`]. A thread that is told to stop
    /// within a chunk ends it with what it had done of it.
    #[inline]
    pub fn lap(&mut self, operations: u64) -> ControlFlow<()> {
        self.lap_at(clock::now_nanos(), operations)
    }

    #[inline]
    fn lap_at(&mut self, now: u64, operations: u64) -> ControlFlow<()> {
        if now >= self.laps.next_edge {
            self.divide(now, operations);
        }
        self.operations += operations;
        self.laps.end_chunk(now)
    }

    /// Operations so far, from the thread's start: what the books must agree with after the window.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Whether this thread has passed the second edge.
    pub fn passed(&self) -> bool {
        self.at_last.is_some()
    }

    /// What was counted; `None` when this thread did not live to see both edges.
    pub fn finish(self) -> Option<Counted> {
        Some(Counted {
            operations: self.at_last? - self.at_first?,
        })
    }

    /// Divides a chunk at the edges that it spans.
    #[cold]
    fn divide(&mut self, now: u64, operations: u64) {
        let edges = &self.laps.edges;
        let (first, last) = (edges.first_nanos(), edges.last_nanos());
        // Before the window began this thread may have waited for others to start.
        let began = match edges.began_nanos() {
            None => return,
            Some(begins) => self.laps.began.max(begins).min(now),
        };
        let took = now - began;
        let until = |edge: u64| {
            let share = match took {
                0 => 1.0,
                took => (edge.saturating_sub(began) as f64 / took as f64).min(1.0),
            };
            self.operations as f64 + operations as f64 * share
        };
        let (at_first, at_last) = (until(first), until(last));
        if now >= first && self.at_first.is_none() {
            self.at_first = Some(at_first);
        }
        if now >= last && self.at_last.is_none() {
            self.at_last = Some(at_last);
            self.laps.edges.leave();
        }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        if self.at_last.is_none() {
            self.laps.edges.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAMP: u64 = 1_000_000;
    const WINDOW: u64 = 50_000_000;

    fn edges(counting: usize, slowed_percent: Option<u32>) -> Edges {
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

    /// One that began when the window did.
    fn counter(edges: &Edges) -> Counter {
        let mut counter = edges.counter();
        counter.laps.began = 0;
        counter
    }

    fn operations(counter: Counter) -> f64 {
        counter.finish().expect("it saw both edges").operations
    }

    #[test]
    fn chunks_are_divided_at_the_edges() {
        let edges = edges(2, None);
        let (mut prompt, mut late) = (counter(&edges), counter(&edges));
        assert!(prompt.lap_at(RAMP, 100).is_continue());
        assert!(prompt.lap_at(RAMP + WINDOW, 5_000).is_continue());
        assert!(!edges.over(), "the other thread still counts");
        // 10 a microsecond all the time, in chunks that do not end at edges.
        assert!(late.lap_at(RAMP * 3, 30_000).is_continue());
        assert!(late.lap_at(RAMP + WINDOW + RAMP, 490_000).is_break());
        assert!(edges.over());
        let counted = [prompt.finish(), late.finish()];
        let sample = edges.sample(&counted).expect("both were counted");
        assert_eq!(sample.operations, 5_000 + 500_000);
        assert_eq!(sample.nanos, WINDOW);
        assert!(
            (sample.value - 10_100_000.0).abs() < 1e-3,
            "{}",
            sample.value
        );
    }

    #[test]
    fn a_thread_parked_across_the_first_edge_counts_over_the_whole_window() {
        let edges = edges(2, None);
        let (mut awake, mut parked) = (counter(&edges), counter(&edges));
        assert!(awake.lap_at(RAMP, 0).is_continue());
        assert!(awake.lap_at(RAMP + WINDOW, 5_000).is_continue());
        // Asleep until 10 us before the second edge, then fast: 1000 operations in 50 ms are no more than
        // that, whatever their pace while they came.
        let wakes = RAMP + WINDOW - 10_000;
        assert!(parked.lap_at(wakes, 0).is_continue());
        assert!(parked.lap_at(RAMP + WINDOW, 1_000).is_break());
        let counted = [awake.finish(), parked.finish()];
        let sample = edges.sample(&counted).expect("both saw the edges");
        assert_eq!(sample.operations, 6_000);
        let expected = sample.operations as f64 / sample.nanos as f64 * 1e9;
        assert!((sample.value - expected).abs() < 1e-6, "{}", sample.value);
    }

    #[test]
    fn a_thread_that_sleeps_over_the_end_counts_what_it_did() {
        let edges = edges(1, None);
        let mut counter = counter(&edges);
        assert!(counter.lap_at(RAMP, 10).is_continue());
        assert!(counter.lap_at(RAMP + WINDOW / 2, 700).is_continue());
        // Then nothing came but the message that ends it.
        assert!(counter.lap_at(RAMP + WINDOW * 2, 0).is_break());
        assert!((operations(counter) - 700.0).abs() < 1e-9);
    }

    #[test]
    fn a_worker_waits_a_while_for_those_who_count_and_no_longer() {
        let edges = edges(1, None);
        let _parked = counter(&edges);
        let mut worker = edges.laps();
        let end = RAMP + WINDOW;
        assert!(worker.end_chunk(end - 1).is_continue());
        assert!(worker.end_chunk(end + GRACE - 1).is_continue());
        assert!(worker.end_chunk(end + GRACE).is_break());
    }

    #[test]
    fn nothing_is_timed_before_all_have_started() {
        let spec = WindowSpec {
            ramp_nanos: RAMP,
            nanos: WINDOW,
            slowed_percent: None,
            seed: 0,
        };
        let edges = Edges::new(&spec, 1);
        assert_eq!(edges.began_nanos(), None);
        let mut counter = counter(&edges);
        assert!(counter.lap_at(10 * WINDOW, 1_000_000).is_continue());
        edges.begin_at(20 * WINDOW);
        assert!(counter.lap_at(20 * WINDOW + RAMP, 77).is_continue());
        assert!(counter.lap_at(21 * WINDOW + RAMP, 500).is_break());
        assert!((operations(counter) - 500.0).abs() < 1e-9);
    }

    #[test]
    fn a_chunk_that_spans_the_window_is_divided_twice() {
        let edges = edges(1, None);
        let mut counter = counter(&edges);
        counter.laps.began = RAMP - WINDOW / 100;
        assert!(counter.lap_at(RAMP + WINDOW + WINDOW / 100, 102).is_break());
        assert!((operations(counter) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn usage_is_scaled_to_the_window() {
        let edges = edges(1, None);
        let reading = |nanos, cpu_nanos| Reading {
            nanos,
            usage: Some(Usage {
                cpu_nanos,
                voluntary_switches: 0,
                involuntary_switches: 0,
            }),
        };
        let shared = &edges.shared;
        shared.used_at_first.set(reading(RAMP, 500)).expect("unset");
        let late = RAMP + WINDOW * 5 / 4;
        shared
            .used_at_last
            .set(reading(late, 10_500))
            .expect("unset");
        assert_eq!(edges.used().map(|used| used.cpu_nanos), Some(8_000));
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
    fn a_window_without_operations_is_void() {
        let edges = edges(1, None);
        let mut counter = counter(&edges);
        assert!(counter.lap_at(RAMP, 3).is_continue());
        assert!(counter.lap_at(RAMP + WINDOW, 0).is_break());
        assert!(edges.sample(&[counter.finish()]).is_err());
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

    #[test]
    fn chunks_grow_while_short_and_shrink_when_long() {
        let edges = edges(1, None);
        let mut laps = edges.laps();
        laps.began = 0;
        let mut now = 0;
        for expected in [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024] {
            now += 10_000;
            assert!(laps.end_chunk(now).is_continue());
            assert_eq!(laps.chunk(), expected);
        }
        now += 50_000;
        assert!(laps.end_chunk(now).is_continue());
        assert_eq!(laps.chunk(), 1024);
        for expected in [512, 256, 128, 64, 32, 16, 8, 4, 2, 1, 1] {
            now += 100_001;
            assert!(laps.end_chunk(now).is_continue());
            assert_eq!(laps.chunk(), expected);
        }
    }
}
