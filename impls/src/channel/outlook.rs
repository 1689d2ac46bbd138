//! A guess whether the next put or take of a task will wait at a rendezvous.
//!
//! A task that waits clones its waker, with no lock held. Where it knows beforehand that it will wait, it locks the
//! channel once. Where two tasks meet, each of them is served, then waits, so every second request of a thread waits.
//! A wrong guess costs a clone of a waker, or a lock. Channels with room have longer periods, and nothing is guessed
//! there.

use std::cell::Cell;

use crate::sync::thread_local;

thread_local! {
    /// What came after a request that waited, and after one that did not.
    ///
    /// ```text
    ///          2            1            0
    ///         +------------+------------+--------+
    ///         | after one  | after one  | the    |
    ///         | that       | that did   | last   |
    ///         | waited     | not wait   | waited |
    ///         +------------+------------+--------+
    /// ```
    ///
    /// Bits 1 and 2 are set if the one that followed waited.
    static KNOWN: Cell<u8> = const { Cell::new(0) };
}

const WAITED: u8 = 1;

/// Whether the next request of this thread will wait.
#[inline]
pub(super) fn waits() -> bool {
    KNOWN.with(|known| known.get() & after(known.get()) != 0)
}

/// Takes note of whether a request of this thread waited.
#[inline]
pub(super) fn learn(waited: bool) {
    KNOWN.with(|known| {
        let told = known.get();
        known.set(match waited {
            true => told | after(told) | WAITED,
            false => told & !(after(told) | WAITED),
        });
    });
}

/// The bit for what comes next.
#[inline]
fn after(known: u8) -> u8 {
    2 << (known & WAITED)
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;

    /// The number of wrong guesses in that sequence, repeated.
    fn wrong(sequence: &[bool]) -> usize {
        KNOWN.set(0);
        let all = sequence.iter().cycle().take(100);
        let wrong = all.filter(|waited| {
            let guess = waits();
            learn(**waited);
            guess != **waited
        });
        wrong.count()
    }

    #[test]
    fn what_repeats_or_takes_turns_is_guessed() {
        assert_eq!(wrong(&[false]), 0);
        assert_eq!(wrong(&[true]), 2);
        assert_eq!(wrong(&[true, false]), 1);
        assert_eq!(wrong(&[false, true]), 1);
    }
}
