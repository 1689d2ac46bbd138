//! A guess whether the next put or take of a task will wait, where only the holder of the lock could tell.
//!
//! A task that waits clones its waker, with no lock held. Where it knows beforehand that it will wait, it locks the
//! channel once. Tasks that run in turns mostly wait in a fixed pattern: at room for one value, every third request
//! does. So the guess is what came next when the last eight requests of the thread ended the same way. After eight
//! requests that did not wait, the guess is that the next one does not wait. A wrong guess costs a clone of a waker, or a
//! lock.

use std::cell::Cell;

use super::EXPLORED;
use crate::sync::thread_local;

/// How many requests are a history. In explored worlds a thread makes few, and both guesses have to occur. So it learns
/// sooner there, and expects to wait after a first request that waited.
const LENGTH: u32 = if EXPLORED { 2 } else { 8 };
/// The bits of a history.
const BITS: u8 = u8::MAX >> (u8::BITS - LENGTH);

/// What a thread knows of its requests.
struct Known {
    /// Whether each of the last requests waited; the last one is in the lowest bit.
    history: Cell<u8>,
    /// Whether the next one waited, by history.
    waited: [Cell<bool>; 1 << u8::BITS],
}

thread_local! {
    static KNOWN: Known = const {
        Known {
            history: Cell::new(0),
            waited: {
                let mut waited = [const { Cell::new(false) }; 1 << u8::BITS];
                waited[1] = Cell::new(EXPLORED);
                waited
            },
        }
    };
}

impl Known {
    /// Whether none of the last eight requests waited. Then nothing is learned, so that such requests store nothing.
    #[inline]
    fn is_calm(&self) -> bool {
        self.history.get() == 0 && !EXPLORED
    }

    #[inline]
    fn next(&self) -> &Cell<bool> {
        &self.waited[usize::from(self.history.get())]
    }
}

/// Whether the next request of this thread will wait.
#[inline]
pub(super) fn waits() -> bool {
    KNOWN.with(|known| !known.is_calm() && known.next().get())
}

/// Takes note of whether a request of this thread waited.
#[inline]
pub(super) fn learn(waited: bool) {
    KNOWN.with(|known| {
        if known.is_calm() && !waited {
            return;
        }
        if !known.is_calm() {
            known.next().set(waited);
        }
        let history = known.history.get();
        known.history.set((history << 1 | u8::from(waited)) & BITS);
    });
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;

    /// The number of wrong guesses in 180 requests of which each `period`-th waits, after as many.
    fn wrong(period: usize) -> usize {
        let mut guesses = (1..).map(|request| {
            let (guess, waited) = (waits(), request % period == 0);
            learn(waited);
            guess != waited
        });
        guesses.by_ref().take(180).for_each(drop);
        guesses.take(180).filter(|wrong| *wrong).count()
    }

    #[test]
    fn what_repeats_within_eight_requests_is_guessed() {
        for period in 1..=8 {
            assert_eq!(wrong(period), 0, "{period}");
        }
    }

    #[test]
    fn one_that_waits_after_eight_that_did_not_is_missed() {
        assert_eq!(wrong(9), 20);
    }
}
