//! The part of a channel that is used without its lock.

use super::pace::{Pace, Side};

/// The result of an attempt without the lock, or of one under it that does only what most puts and takes need.
#[derive(Debug)]
pub enum Quick<D, V> {
    /// It has committed.
    Done(D),
    /// There was no room, or no value, at a moment of the attempt at which no request waited. Without the lock this is
    /// certain only where a certain answer was asked for.
    Unable(V),
    /// Unknown: ask under the lock, or in full.
    Ask(V),
}

/// The part of a channel that is used without the channel's lock while no request waits.
pub trait Front<T>: Clone + Send + Sync {
    /// Whether there is such a part at all. If not, no code is compiled for it.
    const OPENS: bool;

    /// Whether most operations of tasks take the lock.
    fn mostly_locks(&self) -> bool;

    /// Puts in one attempt. Short enough to be inlined into the caller.
    ///
    /// # Errors
    /// Gives the value back when [`Front::offer`] has to be tried.
    fn offer_at_once(&self, value: T) -> Result<(), T>;

    /// Takes in one attempt. `None` when [`Front::poll`] has to be tried.
    fn poll_at_once(&self) -> Option<T>;

    /// Puts. "Unable" is certain only with `SURE`; other callers ask under the lock next.
    fn offer<const SURE: bool>(&self, value: T) -> Quick<(), T>;

    /// Takes. "Unable" is certain only with `SURE`.
    fn poll<const SURE: bool>(&self) -> Quick<T, ()>;

    /// Whether another attempt to put may succeed. Cheaper than an attempt for the threads of the other side, and wrong at
    /// times, either way.
    fn may_put(&self) -> bool {
        true
    }

    /// The same for a take.
    fn may_take(&self) -> bool {
        true
    }

    /// How a put or a take waits before it stands in line.
    fn pace(&self, _: Side) -> Pace {
        Pace::default()
    }

    /// Adapts it, after a put or take that has waited and is done. The flag says that its first turn was enough.
    fn adapt_pace(&self, _: Side, _: bool) {}

    /// Whether a put would find no room, as far as a few loads can tell; `false` where they cannot. The answer is not
    /// certain.
    fn seems_full(&self) -> bool;

    /// Whether a take would find no value, with the same limits.
    fn seems_empty(&self) -> bool;
}

/// No front: every operation takes the lock.
#[derive(Clone, Copy, Debug)]
pub struct Shut;

impl<T> Front<T> for Shut {
    const OPENS: bool = false;

    #[inline]
    fn mostly_locks(&self) -> bool {
        true
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer_at_once(&self, value: T) -> Result<(), T> {
        Err(value)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll_at_once(&self) -> Option<T> {
        None
    }
    #[inline]
    fn offer<const SURE: bool>(&self, value: T) -> Quick<(), T> {
        Quick::Ask(value)
    }
    #[inline]
    fn poll<const SURE: bool>(&self) -> Quick<T, ()> {
        Quick::Ask(())
    }
    #[inline]
    fn seems_full(&self) -> bool {
        false
    }
    #[inline]
    fn seems_empty(&self) -> bool {
        false
    }
}
