//! How long a put or take spins before it looks again, by how much came while one like it waited last.
//!
//! In a stream a look soon after the queue was found empty brings a value or two, and takes a cache line from the thread
//! that is about to write it. A later look brings more. A thread that waits for an answer should look soon. So the first
//! turn doubles after a wait for which it was enough, and which brought several values and yet less than a quarter of the
//! room. That is a stream with a value or more in each shortest turn. An answer takes a round trip, which is mostly longer
//! than a shortest turn. So the first turn halves where it was not enough. It also halves where more than half of the room
//! came, or fewer values than the shortest turns that the doublings stand for. A put counts free places in the same way.
//!
//! So a value may wait for up to eight round trips between the cores. A wait of `lock_free` that ends in line changes
//! nothing.

use super::EXPLORED;
use crate::spin::Spin;
use crate::sync::atomic::{AtomicU32, Ordering};

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

    /// After a wait for which the first turn was enough, with `came` values at hand then, or free places, of `room`.
    pub(super) fn adapt(&mut self, came: usize, room: usize) {
        if !Pace::suits(room) {
            return;
        }
        if came < 1 << self.doublings || came > room / 2 {
            self.shorten();
        } else if (2..room / 4).contains(&came) {
            self.doublings = MOST.min(self.doublings + 1);
        }
    }

    /// After a wait that took longer than its first turn.
    pub(super) fn shorten(&mut self) {
        self.doublings = self.doublings.saturating_sub(1);
    }
}

/// The threads that put, or those that take.
#[derive(Clone, Copy)]
pub enum Side {
    Puts,
    Takes,
}

/// The pace of one side of a channel, which all its threads share.
pub(super) struct SharedPace(AtomicU32);

impl SharedPace {
    pub(super) fn new() -> Self {
        SharedPace(AtomicU32::new(Pace::default().doublings))
    }

    /// Reads nothing in explored worlds, in which no wait spins.
    #[inline]
    pub(super) fn get(&self) -> Pace {
        if EXPLORED {
            return Pace::default();
        }
        Pace {
            doublings: self.0.load(Ordering::Relaxed),
        }
    }

    /// If two threads change it at once, one of them may have no effect.
    pub(super) fn change(&self, change: impl FnOnce(&mut Pace)) {
        let before = self.get();
        let mut pace = before;
        change(&mut pace);
        if pace != before {
            self.0.store(pace.doublings, Ordering::Relaxed);
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
        assert_eq!(after(&[1, 1, 1]), 0, "single values");
        assert_eq!(after(&[5, 9, 20]), 3, "few of a stream");
        assert_eq!(after(&[5, 9, 30, 50]), 2, "enough");
        assert_eq!(after(&[5, 9, 70]), 1, "too many");
        assert_eq!(after(&[5, 9, 3]), 1, "fewer than the turns");
        assert_eq!(after(&[5, 9, 4]), 3, "as many as the turns");
        assert_eq!(
            (after(&[24; 19]), after(&[24; 20])),
            (5, 4),
            "about as many"
        );
        let mut pace = Pace { doublings: MOST };
        pace.adapt(1_000, 10_000);
        assert_eq!(pace.doublings, MOST);
    }

    #[test]
    fn a_wait_is_shorter_after_one_that_took_several_turns() {
        let mut pace = Pace { doublings: 2 };
        pace.shorten();
        assert_eq!(pace.doublings, 1);
        pace.shorten();
        pace.shorten();
        assert_eq!(pace.doublings, 0);
    }

    #[test]
    fn waits_with_little_room_stay_short() {
        let mut pace = Pace::default();
        pace.adapt(2, LEAST_ROOM - 1);
        assert_eq!(pace.doublings, 0);
        pace.adapt(2, LEAST_ROOM);
        assert_eq!(pace.doublings, 1);
    }
}
