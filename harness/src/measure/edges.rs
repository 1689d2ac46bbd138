//! The two edges of a window, for many threads at once and without a thread that samples.
//!
//! All threads of a workload start early and ramp up through untimed work. Each works in chunks of k
//! operations and reads the clock once a chunk; a *counting* thread notes (operations, time) when it first
//! sees the clock past the first edge, and again past the second. Its rate is operations over time between
//! its own two notes, and the sample's rate is the sum over the counting threads, so a thread that notices an
//! edge late is not wrong, only a little longer. All threads go on until every counting thread has passed the
//! second edge: what is counted is counted while all run.
//!
//! k adapts: it doubles while a chunk takes less than 20 us and halves above 100 us, between 1 and 1024, so
//! that reading the clock costs next to nothing and edges are seen in time.
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
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::clock;
use super::usage::{self, Usage};
use super::{Sample, StageError, WindowSpec};
use crate::record::FailureKind;

/// A chunk shorter than this is doubled, nanoseconds.
const SHORT_CHUNK: u64 = 20_000;
/// A chunk longer than this is halved, nanoseconds.
const LONG_CHUNK: u64 = 100_000;
/// Operations in a chunk at most.
const MAX_CHUNK: u32 = 1024;
/// Pauses in the window of a copy slowed on purpose.
pub const PAUSES: u64 = 5;

/// The edges of one window. Cloning gives another handle to the same window.
#[derive(Clone, Debug)]
pub struct Edges {
    first: u64,
    last: u64,
    slowed_percent: u32,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Counting threads that have not passed the second edge.
    counting: AtomicUsize,
    /// Of the process, read by whoever passed that edge first.
    usage_at_first: OnceLock<Option<Usage>>,
    usage_at_last: OnceLock<Option<Usage>>,
}

impl Edges {
    /// Edges of a window that begins now with its ramp, and in which `counting` threads will count.
    pub fn new(spec: &WindowSpec, counting: usize) -> Edges {
        Edges::from(clock::now_nanos(), spec, counting)
    }

    fn from(now: u64, spec: &WindowSpec, counting: usize) -> Edges {
        let first = now.saturating_add(spec.ramp_nanos);
        Edges {
            first,
            last: first.saturating_add(spec.nanos.max(1)),
            slowed_percent: spec.slowed_percent.unwrap_or(0).min(99),
            shared: Arc::new(Shared {
                counting: AtomicUsize::new(counting),
                usage_at_first: OnceLock::new(),
                usage_at_last: OnceLock::new(),
            }),
        }
    }

    /// The first edge on [`clock::now_nanos`].
    pub fn first_nanos(&self) -> u64 {
        self.first
    }

    /// The second edge on [`clock::now_nanos`].
    pub fn last_nanos(&self) -> u64 {
        self.last
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
            edges: self.clone(),
        }
    }

    /// Chunks of a thread that counts; make as many as [`Edges::new`] was told.
    pub fn counter(&self) -> Counter {
        Counter {
            laps: self.laps(),
            operations: 0,
            next_edge: self.first,
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
        let counted: Vec<Counted> = counted
            .iter()
            .copied()
            .collect::<Option<_>>()
            .ok_or_else(|| void("a counting thread ended before the window did"))?;
        let operations: u64 = counted.iter().map(|c| c.operations).sum();
        if operations == 0 {
            return Err(void("no operation completed between the edges"));
        }
        let total_nanos: u64 = counted.iter().map(|c| c.nanos).sum();
        let used = self.used();
        Ok(Sample {
            value: rate(&counted),
            operations,
            nanos: total_nanos / counted.len() as u64,
            cpu_nanos: used.map(|u| u.cpu_nanos),
            voluntary_switches: used.map(|u| u.voluntary_switches),
            involuntary_switches: used.map(|u| u.involuntary_switches),
            latency: None,
        })
    }

    /// What the process used between the edges; known once every counting thread has passed them.
    pub fn used(&self) -> Option<Usage> {
        let first = self.shared.usage_at_first.get().copied().flatten()?;
        let last = self.shared.usage_at_last.get().copied().flatten()?;
        Some(last.since(first))
    }

    /// The end of the shared pause in which `now` falls.
    fn pause_end(&self, now: u64) -> Option<u64> {
        if self.slowed_percent == 0 || now < self.first || now >= self.last {
            return None;
        }
        let period = ((self.last - self.first) / PAUSES).max(1);
        let pause = period * u64::from(self.slowed_percent) / 100;
        // In the middle of each period, away from both edges.
        let begins = (period - pause) / 2;
        let into = (now - self.first) % period;
        (into >= begins && into < begins + pause).then(|| now - into + begins + pause)
    }
}

/// The chunks of one thread.
#[derive(Debug)]
pub struct Laps {
    chunk: u32,
    began: u64,
    edges: Edges,
}

impl Laps {
    /// How many operations to do before the next [`Laps::lap`].
    #[inline]
    pub fn chunk(&self) -> u32 {
        self.chunk
    }

    /// Ends a chunk: reads the clock, adapts the chunk, stands still where a copy is slowed on purpose.
    /// `Break` once every counting thread has passed the second edge.
    #[inline]
    pub fn lap(&mut self) -> ControlFlow<()> {
        let now = clock::now_nanos();
        self.end_chunk(now)
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
        if self.edges.over() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// What one thread counted between its own notes of the two edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Operations.
    pub operations: u64,
    /// Time, nanoseconds; never 0.
    pub nanos: u64,
}

/// Operations per second of several threads together: the sum of each one's own rate.
pub fn rate(counted: &[Counted]) -> f64 {
    let per_nano: f64 = counted
        .iter()
        .map(|c| c.operations as f64 / c.nanos.max(1) as f64)
        .sum();
    per_nano * 1e9
}

#[derive(Clone, Copy, Debug)]
struct Note {
    operations: u64,
    nanos: u64,
}

/// The chunks of one thread that counts.
///
/// One that is dropped before it passed the second edge, because its thread panicked or ended, counts as
/// having passed, so that the other threads of the window end too.
#[derive(Debug)]
pub struct Counter {
    laps: Laps,
    operations: u64,
    /// The edge to pass next; never once both are passed.
    next_edge: u64,
    at_first: Option<Note>,
    at_last: Option<Note>,
}

impl Counter {
    /// How many operations to do before the next [`Counter::lap`].
    #[inline]
    pub fn chunk(&self) -> u32 {
        self.laps.chunk()
    }

    /// Ends a chunk in which `operations` were done; otherwise as [`Laps::lap`].
    #[inline]
    pub fn lap(&mut self, operations: u64) -> ControlFlow<()> {
        let now = clock::now_nanos();
        self.count(now, operations);
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
        let (first, last) = (self.at_first?, self.at_last?);
        Some(Counted {
            operations: last.operations - first.operations,
            nanos: last.nanos - first.nanos,
        })
    }

    #[inline]
    fn count(&mut self, now: u64, operations: u64) {
        self.operations += operations;
        if now >= self.next_edge {
            self.pass(now, operations);
        }
    }

    /// Notes an edge; called twice a window at most.
    #[cold]
    fn pass(&mut self, now: u64, operations: u64) {
        let edges = &self.laps.edges;
        let note = Note {
            operations: self.operations,
            nanos: now,
        };
        if self.at_first.is_none() {
            edges.shared.usage_at_first.get_or_init(usage::now);
            self.next_edge = edges.last;
            if now < edges.last {
                self.at_first = Some(note);
                return;
            }
            // This chunk spans the whole window: it is what there is to count.
            self.at_first = Some(Note {
                operations: self.operations - operations,
                nanos: self.laps.began.min(now - 1),
            });
        }
        edges.shared.usage_at_last.get_or_init(usage::now);
        self.at_last = Some(note);
        self.next_edge = u64::MAX;
        edges.leave();
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
        Edges::from(0, &spec, counting)
    }

    #[test]
    fn each_thread_is_timed_between_its_own_notes() {
        let edges = edges(2, None);
        let (mut prompt, mut late) = (edges.counter(), edges.counter());
        prompt.count(500_000, 100);
        prompt.count(1_000_000, 100);
        prompt.count(51_000_000, 5_000);
        assert!(!edges.over(), "the other thread still counts");
        late.count(11_000_000, 7);
        late.count(61_000_000, 2_500);
        assert!(edges.over());
        late.count(99_000_000, 1_000_000);
        let counted = [prompt.finish(), late.finish()];
        assert_eq!(
            counted,
            [
                Some(Counted {
                    operations: 5_000,
                    nanos: WINDOW
                }),
                Some(Counted {
                    operations: 2_500,
                    nanos: WINDOW
                }),
            ]
        );
        let sample = edges.sample(&counted).expect("both were counted");
        assert_eq!(sample.operations, 7_500);
        assert_eq!(sample.nanos, WINDOW);
        assert!((sample.value - 150_000.0).abs() < 1e-6, "{}", sample.value);
    }

    #[test]
    fn a_chunk_that_spans_the_window_is_what_there_is_to_count() {
        let edges = edges(1, None);
        let mut counter = edges.counter();
        counter.laps.began = 900_000;
        counter.count(60_900_000, 1);
        let counted = counter.finish();
        assert_eq!(
            counted,
            Some(Counted {
                operations: 1,
                nanos: 60_000_000
            })
        );
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
        let mut counter = edges.counter();
        counter.count(RAMP, 3);
        counter.count(RAMP + WINDOW, 0);
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
