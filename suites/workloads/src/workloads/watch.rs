//! The observer of a workload's thread: the same loop is timed with [`Timed`] and proved with [`Recorded`].
//!
//! Loops are generic over [`Watch`], so a timed loop contains no code of the proof: empty calls are removed.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flowmeter_measure::edges::{Counter, Laps};

use super::lead::Lead;
use super::ledger::{Bound, Tally};

/// How long consumers of a proof wait at most until the buffer is full.
const FILLING: Duration = Duration::from_millis(100);

/// How long they wait after that, so that a put into the full buffer can return if it wrongly does.
const FULL: Duration = Duration::from_millis(5);

/// Observes what a thread does.
pub trait Watch: Send + 'static {
    /// How many turns before the next [`Watch::lap`].
    fn chunk(&self) -> u32;

    /// A chunk is done; `Break` when this thread, if it is one that decides, should stop.
    fn lap(&mut self) -> ControlFlow<()>;

    /// This thread was told to stop after so many turns of a chunk.
    #[inline]
    fn ends(&mut self, turns: u32) {
        let _ = turns;
    }

    /// Whether a producer should yield and ask again before its next chunk.
    #[inline]
    fn is_far_ahead(&mut self) -> bool {
        false
    }

    /// A put of that value returned.
    fn has_put(&mut self, stamp: u64);

    /// A take of that value returned.
    fn has_taken(&mut self, stamp: u64);

    /// A take is about to be invoked.
    #[inline]
    fn will_take(&mut self) {}

    /// Whether a consumer should yield and ask again before its first take.
    #[inline]
    fn holds_back(&mut self) -> bool {
        false
    }
}

/// Paces a timed thread: [`Counter`] where it counts, [`Laps`] where it only works.
pub trait Pace: Send + 'static {
    /// Turns before the next lap.
    fn chunk(&self) -> u32;
    /// A chunk of `turns` is done.
    fn lap(&mut self, turns: u64) -> ControlFlow<()>;
    /// Time passes without a turn.
    fn idle(&mut self) -> ControlFlow<()>;
}

impl Pace for Laps {
    #[inline]
    fn chunk(&self) -> u32 {
        Laps::chunk(self)
    }

    #[inline]
    fn lap(&mut self, _turns: u64) -> ControlFlow<()> {
        Laps::lap(self)
    }

    fn idle(&mut self) -> ControlFlow<()> {
        Laps::idle(self)
    }
}

impl Pace for Counter {
    #[inline]
    fn chunk(&self) -> u32 {
        Counter::chunk(self)
    }

    #[inline]
    fn lap(&mut self, turns: u64) -> ControlFlow<()> {
        Counter::lap(self, turns)
    }

    fn idle(&mut self) -> ControlFlow<()> {
        Counter::lap(self, 0)
    }
}

/// A timed thread: paced by the edges of a window, with sums that are compared afterwards.
#[derive(Debug)]
pub struct Timed<L> {
    /// Its pace.
    pub pace: L,
    /// What it put.
    pub put: Tally,
    /// What it took.
    pub taken: Tally,
    operations_a_turn: u64,
    lead: Option<Lead>,
}

impl<L: Pace> Timed<L> {
    /// A thread with that many operations in each turn.
    pub fn new(pace: L, operations_a_turn: u64) -> Timed<L> {
        Timed {
            pace,
            put: Tally::default(),
            taken: Tally::default(),
            operations_a_turn,
            lead: None,
        }
    }

    /// A thread with a limited lead of producers; `None` where the channel limits it.
    pub fn bounded(self, lead: Option<Lead>) -> Timed<L> {
        Timed { lead, ..self }
    }

    fn tell(&mut self) {
        if let Some(lead) = &mut self.lead {
            lead.tell(self.put.count, self.taken.count);
        }
    }
}

impl<L: Pace> Watch for Timed<L> {
    #[inline]
    fn chunk(&self) -> u32 {
        self.pace.chunk()
    }

    #[inline]
    fn lap(&mut self) -> ControlFlow<()> {
        let turns = u64::from(self.pace.chunk());
        self.tell();
        self.pace.lap(turns * self.operations_a_turn)
    }

    fn ends(&mut self, turns: u32) {
        self.tell();
        // It stops, whatever the clock says.
        let _ = self.pace.lap(u64::from(turns) * self.operations_a_turn);
    }

    #[inline]
    fn is_far_ahead(&mut self) -> bool {
        self.lead.as_ref().is_some_and(Lead::is_too_long) && self.pace.idle().is_continue()
    }

    #[inline]
    fn has_put(&mut self, stamp: u64) {
        self.put.add(stamp);
    }

    #[inline]
    fn has_taken(&mut self, stamp: u64) {
        self.taken.add(stamp);
    }
}

/// A thread of a proof: so many turns, every value recorded, and the bound watched.
#[derive(Debug)]
pub struct Recorded {
    turns: u32,
    /// Until when it waits at most; `None` before it first asks.
    until: Option<Instant>,
    bound: Option<Arc<Bound>>,
    /// Whether it has seen the buffer full.
    full: bool,
    /// Stamps in the order of its puts.
    pub put: Vec<u64>,
    /// Stamps in the order of its takes.
    pub taken: Vec<u64>,
}

impl Recorded {
    /// One that stops after `turns`; `bound` where the channel has one.
    pub fn new(turns: u32, bound: Option<Arc<Bound>>) -> Recorded {
        Recorded {
            turns,
            until: None,
            bound,
            full: false,
            put: Vec::new(),
            taken: Vec::new(),
        }
    }
}

impl Watch for Recorded {
    fn chunk(&self) -> u32 {
        1
    }

    fn lap(&mut self) -> ControlFlow<()> {
        self.turns = self.turns.saturating_sub(1);
        if self.turns == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn has_put(&mut self, stamp: u64) {
        if let Some(bound) = &self.bound {
            bound.put_returned();
        }
        self.put.push(stamp);
    }

    fn has_taken(&mut self, stamp: u64) {
        self.taken.push(stamp);
    }

    fn will_take(&mut self) {
        if let Some(bound) = &self.bound {
            bound.take_invoked();
        }
    }

    fn holds_back(&mut self) -> bool {
        let Some(bound) = &self.bound else {
            return false;
        };
        let now = Instant::now();
        if !self.full && bound.is_full() {
            self.full = true;
            self.until = Some(now + FULL);
        }
        let until = *self.until.get_or_insert(now + FILLING);
        now < until && !bound.is_broken() && !bound.is_used()
    }
}
