//! Histories that a queue produced, and small forgeries of them.

use std::collections::VecDeque;

use crate::check::fifo::Outcome::{
    Close, Put, PutClosed, PutFull, Take, TakeClosed, TakeEmpty, TakeUnknown,
};
use crate::check::fifo::{NEVER, Operation};

/// Seeded, so that a failure can be repeated (SplitMix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// What a queue with that room did, one operation after the other. Each operation has an interval that extends up
    /// to `width` moments to either side of its moment. Some are never answered if that is allowed.
    pub(super) fn explainable(
        &mut self,
        length: usize,
        room: usize,
        width: u64,
        may_end: bool,
    ) -> Vec<Operation> {
        let mut queue = VecDeque::new();
        let mut closed = false;
        let mut values = 0..;
        let moments = (0..length as u64).map(|moment| 2 * moment);
        let mut history: Vec<Operation> = Vec::with_capacity(length);
        for moment in moments {
            let outcome = match self.below(16) {
                0 if may_end => {
                    closed = true;
                    Close
                }
                1..=8 if closed => PutClosed,
                1..=8 if queue.len() == room => PutFull,
                1..=8 => {
                    let value = values.next().expect("there are values enough");
                    queue.push_back(value);
                    Put(value)
                }
                _ => match queue.pop_front() {
                    Some(_) if may_end && self.below(8) == 0 => TakeUnknown,
                    Some(value) => Take(value),
                    None if closed => TakeClosed,
                    None => TakeEmpty,
                },
            };
            let unanswered = outcome == TakeUnknown
                || matches!(outcome, Put(_)) && may_end && self.below(8) == 0;
            history.push(Operation {
                thread: (moment / 2 % 8) as u32,
                invoke: moment.saturating_sub(self.below(width)),
                returned: if unanswered {
                    NEVER
                } else {
                    moment + self.below(width)
                },
                outcome,
            });
        }
        history
    }

    /// Moves one interval, or lets two operations exchange theirs.
    pub(super) fn forge(&mut self, history: &mut [Operation]) {
        let one = self.below(history.len() as u64) as usize;
        let other = self.below(history.len() as u64) as usize;
        let length = 2 * history.len() as u64;
        if history[one].returned == NEVER || history[other].returned == NEVER {
            history[one].invoke = history[one].invoke.min(self.below(length));
        } else if self.below(2) == 0 {
            let duration = history[one].returned - history[one].invoke;
            history[one].invoke = self.below(length);
            history[one].returned = history[one].invoke + duration;
        } else {
            let outcome = history[one].outcome;
            history[one].outcome = history[other].outcome;
            history[other].outcome = outcome;
        }
    }
}
