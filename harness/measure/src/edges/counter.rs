//! Counts between the edges: a chunk that spans an edge is divided at it.

use std::ops::ControlFlow;

use super::{Edges, Laps};
use crate::clock;

/// The operations that one thread counted from edge to edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// Operations, with the shares of the chunks that span the edges.
    pub operations: f64,
}

/// The chunks of one counting thread.
///
/// Dropping it before the second edge, because its thread panicked or ended, counts as passing the edge, so that the
/// other threads of the window end too.
#[derive(Debug)]
pub struct Counter {
    laps: Laps,
    operations: u64,
    /// Operations until the edge.
    at_first: Option<f64>,
    at_last: Option<f64>,
}

impl Counter {
    pub(super) fn of(edges: &Edges) -> Counter {
        Counter {
            laps: edges.laps(),
            operations: 0,
            at_first: None,
            at_last: None,
        }
    }

    /// How many operations to do before the next [`Counter::lap`].
    #[inline]
    pub fn chunk(&self) -> u32 {
        self.laps.chunk()
    }

    /// Ends a chunk of `operations` operations; otherwise as [`Laps::lap`]. A thread that is told to stop within a
    /// chunk ends it with the operations done so far.
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

    /// Operations since the start of the thread. The ledger must agree with them after the window.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Whether this thread has passed the second edge.
    pub fn passed(&self) -> bool {
        self.at_last.is_some()
    }

    /// The count; `None` when this thread ended before it passed both edges.
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
        // Before the window began, this thread may have waited for others to start.
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
    use super::super::tests::{RAMP, WINDOW, edges};
    use super::*;
    use crate::WindowSpec;

    /// A counter that began with the window.
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
        // It sleeps until 10 us before the second edge, then runs fast. 1000 operations in 50 ms count as that,
        // whatever their pace in between.
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
        // Then only the message that ends it arrives.
        assert!(counter.lap_at(RAMP + WINDOW * 2, 0).is_break());
        assert!((operations(counter) - 700.0).abs() < 1e-9);
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
    fn a_window_without_operations_is_void() {
        let edges = edges(1, None);
        let mut counter = counter(&edges);
        assert!(counter.lap_at(RAMP, 3).is_continue());
        assert!(counter.lap_at(RAMP + WINDOW, 0).is_break());
        assert!(edges.sample(&[counter.finish()]).is_err());
    }

    #[test]
    fn bursts_are_counted_to_within_a_few_operations() {
        // 64 operations at 100 ns each, then none for the rest of 97.3 us: the pace inside a chunk is very uneven. With
        // chunks of the usual length, up to 56 of 32,896 operations would be on the wrong side of an edge.
        let ends = |n: u64, shift: u64| shift + n / 64 * 97_300 + (n % 64 + 1) * 100;
        let mut worst: f64 = 0.0;
        for shift in (0..100_000).step_by(777) {
            let edges = edges(1, None);
            let mut counter = counter(&edges);
            let mut done = 0;
            loop {
                let chunk = u64::from(counter.chunk());
                done += chunk;
                if counter.lap_at(ends(done - 1, shift), chunk).is_break() {
                    break;
                }
            }
            let within = |n: &u64| (RAMP..RAMP + WINDOW).contains(&ends(*n, shift));
            let truth = (0..done).filter(within).count() as f64;
            worst = worst.max((operations(counter) - truth).abs());
        }
        assert!(worst <= 4.0, "{worst} operations");
    }
}
