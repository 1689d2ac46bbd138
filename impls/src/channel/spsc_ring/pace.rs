//! How long a half waits before it looks again, by how much came while it waited last.
//!
//! In a stream a look soon after the ring was found empty brings a value or two, and takes the line of the other side's word
//! from the thread that is about to write it. A later look brings more. A thread that waits for one answer should look soon.
//! So the first turn doubles after a wait that brought several values and yet less than a quarter of the room. After more
//! than half of the room it halves, and after a single value it is short again. A room below 12 never doubles it.
//!
//! So a value may wait for up to eight round trips between the cores. Answers that come in twos or threes do so for nothing:
//! how many come does not tell them from a stream.

/// So many doublings reach the bound that `Spin` sets, on each machine that was met.
const MOST: u32 = 7;

/// How often the first turn of the next wait is doubled.
#[derive(Clone, Copy, Default)]
pub(super) struct Pace {
    doublings: u32,
}

impl Pace {
    pub(super) fn doublings(self) -> u32 {
        self.doublings
    }

    /// After a wait that ended with `came` values at hand, or as many places for values, of `room`.
    pub(super) fn adapt(&mut self, came: usize, room: usize) {
        self.doublings = if came <= 1 {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// After waits in which so many of a hundred values came.
    fn after(waits: &[usize]) -> u32 {
        let mut pace = Pace::default();
        waits.iter().for_each(|came| pace.adapt(*came, 100));
        pace.doublings()
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
}
