//! How long a half waits before it looks again, by how much came while it waited last.
//!
//! In a stream a look soon after the ring was found empty brings a value or two, and takes the line of the other side's word
//! from the thread that is about to write it. A later look brings more. A thread that waits for one answer should look soon.
//! So the first turn doubles while waits bring several values and yet less than a quarter of the room. It is short again
//! after a wait that brought a single one. In a stream a value may so wait for up to eight round trips between the cores.

/// The longest first turn is the shortest, doubled so many times.
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

    /// After a wait, as so many values came or were taken, of `room`.
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
