//! How long a put or take spins before it looks again, by how much came while one like it waited last.
//!
//! In a stream a look soon after the queue was found empty brings a value or two, and takes a cache line from the thread
//! that is about to write it. A later look brings more. A thread that waits for one answer should look soon. So the first
//! turn doubles after a wait that brought several values and yet less than a quarter of the room. After more than half of
//! the room it halves, and after a single value it is short again. A put counts free places in the same way.
//!
//! So a value may wait for up to eight round trips between the cores. Where answers come in twos or threes, each waits so
//! and no more come: their number does not tell them from a stream.

use super::EXPLORED;
use crate::spin::Spin;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// So many doublings reach the bound of `Spin` also where cores are far apart, since it is in round trips. Where they are
/// near fewer do, and the last ones change nothing.
const MOST: u32 = 7;
/// The least room at which the first turn is ever doubled. With less room, streams with doubled turns were slower
/// (docs/lab/2026-12-01-paced-queues.md).
const LEAST_ROOM: usize = 32;

/// How often the first turn of the next wait is doubled.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Pace {
    doublings: u32,
}

impl Pace {
    /// Backoff for a wait.
    #[inline]
    pub(super) fn spin(self) -> Spin {
        Spin::paced(self.doublings)
    }

    /// Whether waits with that room adapt at all.
    pub(super) fn suits(room: usize) -> bool {
        room >= LEAST_ROOM
    }

    /// After a wait that ended with `came` values at hand, or as many places for values, of `room`.
    pub(super) fn adapt(&mut self, came: usize, room: usize) {
        self.doublings = if came <= 1 || !Pace::suits(room) {
            0
        } else if came < room / 4 {
            MOST.min(self.doublings + 1)
        } else if came > room / 2 {
            self.doublings.saturating_sub(1)
        } else {
            self.doublings
        };
    }
}

/// The threads that put, or those that take.
#[derive(Clone, Copy)]
pub enum Side {
    Puts,
    Takes,
}

/// The pace of one side of a channel, which all its threads share.
pub(super) struct SharedPace {
    doublings: AtomicU32,
    /// Where the side was when the pace last adapted.
    place: AtomicU64,
}

impl SharedPace {
    pub(super) fn new() -> Self {
        SharedPace {
            doublings: AtomicU32::new(Pace::default().doublings),
            place: AtomicU64::new(0),
        }
    }

    /// Reads nothing in explored worlds, in which no wait spins.
    #[inline]
    pub(super) fn get(&self) -> Pace {
        if EXPLORED {
            return Pace::default();
        }
        Pace {
            doublings: self.doublings.load(Ordering::Relaxed),
        }
    }

    /// Notes where the side is, and returns how far it has come since the last time.
    pub(super) fn advance(&self, place: u64) -> u64 {
        let last = self.place.load(Ordering::Relaxed);
        self.place.store(place, Ordering::Relaxed);
        place.wrapping_sub(last)
    }

    /// See [`Pace::adapt`]. If two threads do so at once, one of them may have no effect.
    pub(super) fn adapt(&self, came: usize, room: usize) {
        let before = self.get();
        let mut pace = before;
        pace.adapt(came, room);
        if pace != before {
            self.doublings.store(pace.doublings, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After waits in which so many of a hundred values came.
    fn after(waits: &[usize]) -> u32 {
        let mut pace = Pace::default();
        waits.iter().for_each(|came| pace.adapt(*came, 100));
        pace.doublings
    }

    #[test]
    fn waits_are_longer_in_a_stream_and_short_for_an_answer() {
        assert_eq!(after(&[1, 1, 1]), 0, "answers");
        assert_eq!(after(&[5, 9, 20]), 3, "few of a stream");
        assert_eq!(after(&[5, 9, 30, 50]), 2, "enough");
        assert_eq!(after(&[5, 9, 70]), 1, "too many");
        assert_eq!(after(&[5, 9, 1]), 0, "a stream that has ended");
        assert_eq!(after(&[2; 20]), MOST);
    }

    #[test]
    fn waits_with_little_room_stay_short() {
        let mut pace = Pace::default();
        pace.adapt(2, LEAST_ROOM);
        assert_eq!(pace.doublings, 1);
        pace.adapt(2, LEAST_ROOM - 1);
        assert_eq!(pace.doublings, 0);
    }
}
