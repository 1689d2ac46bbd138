//! The chunks of a thread that takes part in a window: how long each is, and when it is over.

use std::ops::ControlFlow;

use super::{Edges, Reading};
use crate::clock;

/// A chunk shorter than this is doubled, nanoseconds.
const SHORT_CHUNK: u64 = 20_000;
/// A chunk longer than this is halved, nanoseconds.
const LONG_CHUNK: u64 = 100_000;
/// Within this distance of an edge chunks are short, in nanoseconds. A usual chunk that begins farther away ends before
/// the edge.
const NEAR: u64 = 2 * LONG_CHUNK;
/// The factor by which chunks are shorter near an edge.
const NEAR_SHARE: u32 = 16;
/// Operations in a chunk at most.
pub const MAX_CHUNK: u32 = 1024;
/// How long workers wait after the second edge for a counting thread to pass it, nanoseconds.
const GRACE: u64 = 5_000_000;

/// The chunks of one thread.
#[derive(Debug)]
pub struct Laps {
    /// Operations in the chunk under way.
    chunk: u32,
    /// Operations in a chunk away from the edges.
    usual: u32,
    pub(super) began: u64,
    /// The edge to pass next: 0 before the window began, never once both are passed.
    pub(super) next_edge: u64,
    /// When to stop even if not all counting threads have passed the second edge.
    gives_up: u64,
    pub(super) edges: Edges,
}

impl Laps {
    pub(super) fn of(edges: &Edges) -> Laps {
        Laps {
            chunk: 1,
            usual: 1,
            began: clock::now_nanos(),
            next_edge: 0,
            gives_up: u64::MAX,
            edges: edges.clone(),
        }
    }

    /// How many operations to do before the next [`Laps::lap`].
    #[inline]
    pub fn chunk(&self) -> u32 {
        self.chunk
    }

    /// Ends a chunk: reads the clock, adapts the chunk length, and pauses in a copy that is slowed on purpose. Returns
    /// `Break` once every counting thread has passed the second edge, or the grace period is over.
    #[inline]
    pub fn lap(&mut self) -> ControlFlow<()> {
        let now = clock::now_nanos();
        self.end_chunk(now)
    }

    /// Skips time between two chunks that belongs to neither; otherwise as [`Laps::lap`].
    pub fn idle(&mut self) -> ControlFlow<()> {
        let now = clock::now_nanos();
        self.began = now;
        self.look(now)
    }

    #[inline]
    pub(super) fn end_chunk(&mut self, now: u64) -> ControlFlow<()> {
        let took = now.saturating_sub(self.began);
        if took > LONG_CHUNK {
            self.usual = (self.usual / 2).max(1);
        } else if took < SHORT_CHUNK && self.chunk == self.usual {
            self.usual = (self.usual * 2).min(MAX_CHUNK);
        }
        self.chunk = match self.next_edge.checked_sub(now) {
            Some(left) if left < NEAR => (self.usual / NEAR_SHARE).max(1),
            _ => self.usual,
        };
        self.began = match self.edges.pause_end(now) {
            None => now,
            Some(end) => clock::spin_until(end),
        };
        self.look(now)
    }

    /// Handles edges; returns whether the window is over.
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
        shared.used_at_first.get_or_init(|| Reading::first(now));
        self.next_edge = last;
        if now >= last {
            shared.used_at_last.get_or_init(|| Reading::last(now));
            self.next_edge = u64::MAX;
            self.gives_up = last.saturating_add(GRACE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RAMP, WINDOW, edges};
    use super::*;

    #[test]
    fn a_worker_waits_a_while_for_counting_workers_and_no_longer() {
        let edges = edges(1, None);
        let _parked = edges.counter();
        let mut worker = edges.laps();
        let end = RAMP + WINDOW;
        assert!(worker.end_chunk(end - 1).is_continue());
        assert!(worker.end_chunk(end + GRACE - 1).is_continue());
        assert!(worker.end_chunk(end + GRACE).is_break());
    }

    #[test]
    fn chunks_grow_while_short_and_shrink_when_long() {
        let edges = edges(1, None);
        let mut laps = edges.laps();
        // Between the edges, and away from both.
        let mut now = 2 * RAMP;
        laps.began = now;
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

    #[test]
    fn chunks_are_short_near_an_edge_and_as_before_after_it() {
        let edges = edges(1, None);
        let mut laps = edges.laps();
        laps.began = 0;
        let mut now = 0;
        // 10 operations a microsecond, so that chunks are of 256.
        while now < RAMP {
            let chunk = laps.chunk();
            if now > RAMP / 2 {
                let expected = if RAMP - now < NEAR { 16 } else { 256 };
                assert_eq!(chunk, expected, "{now}");
            }
            now += u64::from(chunk) * 100;
            assert!(laps.end_chunk(now).is_continue());
        }
        now += u64::from(laps.chunk()) * 100;
        assert!(laps.end_chunk(now).is_continue());
        assert_eq!(laps.chunk(), 256);
    }
}
