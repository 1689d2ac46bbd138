//! A guess whether the next put or take of a task will wait.

// No primitive of a world: a wrong guess costs time, and adds no order to a model and no step to its schedule.
#[expect(clippy::disallowed_types, reason = "it is no part of what is explored")]
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering;

/// What came, the last time, after a put or take that waited, and after one that did not. Each handle has one of its
/// own, so it is rarely shared.
///
/// A task that waits clones its waker, with no lock held. Where it knows beforehand that it will wait, it locks the
/// channel once. Where two tasks meet at a rendezvous, each of them waits every second time. At other channels most
/// often all wait, or none.
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
pub(super) struct Outlook(AtomicU8);

const WAITED: u8 = 1;

impl Outlook {
    pub(super) fn new() -> Self {
        Outlook(AtomicU8::new(0))
    }

    /// Whether the next one will wait.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        let known = self.0.load(Ordering::Relaxed);
        known & after(known) != 0
    }

    /// Takes note of whether it waited.
    #[inline]
    pub(super) fn learn(&self, waited: bool) {
        let known = self.0.load(Ordering::Relaxed);
        let learnt = match waited {
            true => known | after(known) | WAITED,
            false => known & !(after(known) | WAITED),
        };
        if learnt != known {
            self.0.store(learnt, Ordering::Relaxed);
        }
    }
}

/// The bit for what comes next.
#[inline]
fn after(known: u8) -> u8 {
    2 << (known & WAITED)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of wrong guesses in that sequence, repeated.
    fn wrong(sequence: &[bool]) -> usize {
        let outlook = Outlook::new();
        let all = sequence.iter().cycle().take(100);
        let wrong = all.filter(|waited| {
            let guess = outlook.waits();
            outlook.learn(**waited);
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
