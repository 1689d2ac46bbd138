//! The queue of a channel, of one of three kinds. [`ring`](super::ring) documents what the functions mean.

use super::super::front::Quick;
use super::super::pace::{Pace, Side};
use super::one::One;
use super::ring::Ring;
use super::segments::Segments;
use crate::sync::Arc;
use crate::sync::atomic::{AtomicU64, Ordering};

/// The most values of a narrow queue. Tasks that left a lock in use alone were faster at room for 16 values and fewer, and
/// slower from 17 on, while they spun (docs/lab/2026-11-30-locks-in-use.md).
const NARROW: usize = 16;

/// A choice of the ends of a queue.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub(super) puts: bool,
    pub(super) takes: bool,
}

impl Ends {
    pub(super) const BOTH: Self = Ends {
        puts: true,
        takes: true,
    };
    pub(super) const NEITHER: Self = Ends {
        puts: false,
        takes: false,
    };
}

/// Sets a word of [`One`] or [`Ring`]. The caller holds the channel's lock and the word is shut or cannot be moved on, or
/// the caller has the queue for itself. So the caller alone changes the word.
///
/// Other threads may read the word by a read-modify-write that changes nothing. Loom may order a store between such a
/// one and the value that it has read, which the memory model forbids. A value is lost then. So under loom this is a
/// read-modify-write. Shuttle explores the store, without the weak orders. No model has both.
///
/// The store starts a new release sequence. It publishes what earlier writes did, because the caller acquired that
/// when it shut the word. It may not publish what a thread knew that was told "full" at a shut `head`. That is enough:
/// "empty" is told only at an open `tail`, and the next shut acquires it.
#[inline]
pub(super) fn set(word: &AtomicU64, value: u64) {
    if cfg!(feature = "loom") {
        word.swap(value, Ordering::Release);
    } else {
        word.store(value, Ordering::Release);
    }
}

/// A queue. Clones are the same one.
pub(super) enum Queue<T> {
    /// With room for one value.
    One(Arc<One<T>>),
    /// With room for a fixed number of values.
    Ring(Arc<Ring<T>>),
    /// With room for any number.
    Segments(Arc<Segments<T>>),
}

/// Evaluates the expression with the queue, of whichever kind.
macro_rules! whichever {
    ($queue:ident, $it:ident => $does:expr) => {
        match $queue {
            Queue::One($it) => $does,
            Queue::Ring($it) => $does,
            Queue::Segments($it) => $does,
        }
    };
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        match self {
            Queue::One(one) => Queue::One(Arc::clone(one)),
            Queue::Ring(ring) => Queue::Ring(Arc::clone(ring)),
            Queue::Segments(segments) => Queue::Segments(Arc::clone(segments)),
        }
    }
}

impl<T> Queue<T> {
    /// With room for one value. Not inlined, so that only a channel of this kind needs the stack that building it
    /// takes.
    #[inline(never)]
    pub(super) fn one() -> Self {
        Queue::One(Arc::new(One::new()))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn offer_at_once(&self, value: T) -> Result<(), T> {
        whichever!(self, queue => queue.offer_at_once(value))
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn poll_at_once(&self) -> Option<T> {
        whichever!(self, queue => queue.poll_at_once())
    }
    #[inline]
    pub(super) fn offer<const SURE: bool>(&self, value: T) -> Quick<(), T> {
        match self {
            Queue::One(one) => one.offer::<SURE>(value),
            Queue::Ring(ring) => ring.offer::<SURE>(value),
            // There is always room.
            Queue::Segments(segments) => segments.offer(value),
        }
    }
    #[inline]
    pub(super) fn poll<const SURE: bool>(&self) -> Quick<T, ()> {
        whichever!(self, queue => queue.poll::<SURE>())
    }
    #[inline]
    pub(super) fn may_put(&self) -> bool {
        match self {
            Queue::Ring(ring) => ring.may_put(),
            Queue::One(_) | Queue::Segments(_) => true,
        }
    }
    #[inline]
    pub(super) fn may_take(&self) -> bool {
        match self {
            Queue::Ring(ring) => ring.may_take(),
            Queue::One(_) | Queue::Segments(_) => true,
        }
    }
    #[inline]
    pub(super) fn pace(&self, side: Side) -> Pace {
        match self {
            Queue::Ring(ring) => ring.pace(side),
            Queue::One(_) | Queue::Segments(_) => Pace::default(),
        }
    }
    pub(super) fn adapt_pace(&self, side: Side, in_first_turn: bool) {
        if let Queue::Ring(ring) = self {
            ring.adapt_pace(side, in_first_turn);
        }
    }
    #[inline]
    pub(super) fn seems_full(&self) -> bool {
        match self {
            Queue::One(one) => one.seems_full(),
            Queue::Ring(ring) => ring.seems_full(),
            Queue::Segments(_) => false,
        }
    }
    #[inline]
    pub(super) fn seems_empty(&self) -> bool {
        whichever!(self, queue => queue.seems_empty())
    }
    #[inline]
    pub(super) fn is_narrow(&self) -> bool {
        self.capacity().is_some_and(|capacity| capacity <= NARROW)
    }
    pub(super) fn shut(&self, ends: Ends) {
        whichever!(self, queue => queue.shut(ends));
    }
    pub(super) fn open(&self, ends: Ends) {
        whichever!(self, queue => queue.open(ends));
    }
    pub(super) fn len(&self) -> usize {
        whichever!(self, queue => queue.len())
    }
    /// Whether there is no room. Exact while the front is shut.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        match self {
            Queue::One(one) => one.len() == 1,
            Queue::Ring(ring) => ring.is_full(),
            Queue::Segments(_) => false,
        }
    }
    pub(super) fn push(&self, value: T) {
        whichever!(self, queue => queue.push(value));
    }
    pub(super) fn pop(&self) -> Option<T> {
        whichever!(self, queue => queue.pop())
    }
    pub(super) fn capacity(&self) -> Option<usize> {
        match self {
            Queue::One(_) => Some(1),
            Queue::Ring(ring) => Some(ring.capacity()),
            Queue::Segments(_) => None,
        }
    }
}
