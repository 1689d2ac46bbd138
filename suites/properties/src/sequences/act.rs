//! Sequences: what one or two threads do, act by act, to one channel. Each thread keeps several futures at once and
//! polls each under one of three wakers.

use std::fmt;

use flowmeter_harness::channel::Buffer;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde::{Deserialize, Serialize};

use super::super::programs::family::Generated;

/// How many wakers each future has.
pub(super) const WAKERS: u8 = 3;

/// What a future waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Put,
    Take,
    /// Room for a value.
    Reserve,
    /// The close.
    Closed,
}

/// An act. Numbers name a future or a permit of the thread, modulo how many it has. Without any the act is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Act {
    /// Makes a future and polls it under that waker.
    Start(Kind, u8),
    /// Makes a future that is not polled yet.
    Make(Kind),
    Poll(u8, u8),
    Drop(u8),
    /// Drops a future that was woken and not polled since.
    DropWoken,
    Forget(u8),
    /// Polls each future that was woken, under its latest waker, until none is.
    Settle,
    Offer,
    TryTake,
    TryReserve,
    Fill(u8),
    Release(u8),
    ForgetPermit(u8),
    CloneTx,
    CloneRx,
    DropTx,
    DropRx,
    CloseTx,
    CloseRx,
}

/// A channel, and the acts of each thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sequence {
    pub(super) buffer: Buffer,
    /// How many producers there are at first, and how many consumers, where the family has several.
    pub(super) halves: u8,
    /// Whether the channel is filled before the first act.
    pub(super) full: bool,
    /// Whether the consumers go first at the end. Else the channel is closed, and drained.
    pub(super) deserted: bool,
    pub(super) threads: Vec<Vec<Act>>,
}

/// What sequences may consist of.
#[derive(Clone, Debug)]
pub(super) struct Menu {
    pub(super) buffers: Vec<Buffer>,
    /// How many threads, one or two.
    pub(super) threads: usize,
    /// How many acts each at most.
    pub(super) acts: usize,
    /// Acts with the numbers that will be drawn; an act that stands here twice is twice as frequent.
    pub(super) choice: Vec<Act>,
}

impl Menu {
    /// The sequences of this menu.
    pub(super) fn sequences(&self) -> impl Strategy<Value = Sequence> + use<> {
        let act = (select(self.choice.clone()), 0..6_u8, 0..WAKERS)
            .prop_map(|(act, which, waker)| act.drawn(which, waker));
        let threads = vec(vec(act, 1..=self.acts), self.threads);
        let with = (
            select(self.buffers.clone()),
            1..=4_u8,
            any::<bool>(),
            any::<bool>(),
        );
        (with, threads).prop_map(|((buffer, halves, full, deserted), threads)| Sequence {
            buffer,
            halves,
            full,
            deserted,
            threads,
        })
    }
}

impl Act {
    /// The act with these numbers.
    fn drawn(self, which: u8, waker: u8) -> Act {
        match self {
            Act::Start(kind, _) => Act::Start(kind, waker),
            Act::Poll(..) => Act::Poll(which, waker),
            Act::Drop(_) => Act::Drop(which),
            Act::Forget(_) => Act::Forget(which),
            Act::Fill(_) => Act::Fill(which),
            Act::Release(_) => Act::Release(which),
            Act::ForgetPermit(_) => Act::ForgetPermit(which),
            other => other,
        }
    }
}

impl Generated for Sequence {
    fn size(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }

    fn is_sequential(&self) -> bool {
        self.threads.len() == 1
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Act::Start(kind, waker) => write!(f, "{kind:?} polled by waker {waker}"),
            Act::Make(kind) => write!(f, "{kind:?} made"),
            Act::Poll(which, waker) => write!(f, "poll future {which} by waker {waker}"),
            Act::Drop(which) => write!(f, "drop future {which}"),
            Act::DropWoken => f.write_str("drop what was woken"),
            Act::Forget(which) => write!(f, "forget future {which}"),
            Act::Settle => f.write_str("poll what was woken"),
            Act::Offer => f.write_str("offer"),
            Act::TryTake => f.write_str("try to take"),
            Act::TryReserve => f.write_str("try to reserve"),
            Act::Fill(which) => write!(f, "fill permit {which}"),
            Act::Release(which) => write!(f, "drop permit {which}"),
            Act::ForgetPermit(which) => write!(f, "forget permit {which}"),
            Act::CloneTx => f.write_str("one more producer"),
            Act::CloneRx => f.write_str("one more consumer"),
            Act::DropTx => f.write_str("drop a producer"),
            Act::DropRx => f.write_str("drop a consumer"),
            Act::CloseTx => f.write_str("close by a producer"),
            Act::CloseRx => f.write_str("close by a consumer"),
        }
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let full = if self.full { ", filled first" } else { "" };
        writeln!(
            f,
            "  a channel: {}, {} of each half{full}",
            self.buffer, self.halves
        )?;
        for (thread, acts) in self.threads.iter().enumerate() {
            let acts: Vec<String> = acts.iter().map(Act::to_string).collect();
            writeln!(f, "  thread {}: {}", thread + 1, acts.join("; "))?;
        }
        if self.deserted {
            writeln!(f, "  at last the consumers go first")?;
        }
        Ok(())
    }
}
