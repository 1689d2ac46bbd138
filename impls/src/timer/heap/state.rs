//! What is armed, in the order of deadlines.
//!
//! The heap is an index of the armed timers: one called off or moved leaves its entry behind, which is passed
//! over when it comes up. Invariant: at most as many entries as timers and [`SPARE`] more are left behind.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::Fired;

use crate::sync::{clock, order_key};

/// What a timer calls.
pub(super) type Call = Box<dyn FnOnce(Fired) + Send>;

/// How many entries may be left behind, beyond one for each timer.
const SPARE: usize = 64;

/// An armed timer.
pub(super) struct Armed {
    pub(super) due: Deadline,
    pub(super) then: Call,
}

/// Behind the lock.
pub(super) struct State {
    /// Deadlines and numbers, stale ones among them.
    index: BinaryHeap<Reverse<(Deadline, u64)>>,
    /// By number. No number is used twice, by any service, so a stale handle and a stranger's find nothing.
    armed: BTreeMap<u64, Armed>,
    /// Those of the index that came up and were armed after the batch had begun.
    held: Vec<Reverse<(Deadline, u64)>>,
    /// The number that was drawn when the batch began: its timers have smaller ones.
    batch: u64,
    /// Until when the thread sleeps; `None` while it runs, and will look before it sleeps.
    pub(super) asleep_until: Option<Deadline>,
    /// Whether the thread is to end.
    pub(super) stopping: bool,
}

impl State {
    pub(super) fn new() -> Self {
        State {
            index: BinaryHeap::new(),
            armed: BTreeMap::new(),
            held: Vec::new(),
            batch: 0,
            asleep_until: None,
            stopping: false,
        }
    }

    /// Arms a timer; answers its number.
    pub(super) fn arm(&mut self, due: Deadline, then: Call) -> u64 {
        let number = order_key();
        self.armed.insert(number, Armed { due, then });
        self.index.push(Reverse((due, number)));
        number
    }

    /// Calls one off; `None` when it is armed no more.
    pub(super) fn disarm(&mut self, number: u64) -> Option<Armed> {
        let armed = self.armed.remove(&number)?;
        self.sweep();
        Some(armed)
    }

    /// Moves one; answers whether it was armed still.
    pub(super) fn rearm(&mut self, number: u64, due: Deadline) -> bool {
        let Some(armed) = self.armed.get_mut(&number) else {
            return false;
        };
        armed.due = due;
        self.index.push(Reverse((due, number)));
        self.sweep();
        true
    }

    /// The next deadline.
    pub(super) fn earliest(&mut self) -> Option<Deadline> {
        while let Some(Reverse((due, number))) = self.index.peek() {
            if self
                .armed
                .get(number)
                .is_some_and(|armed| armed.due == *due)
            {
                return Some(*due);
            }
            self.index.pop();
        }
        None
    }

    /// Takes off the next timer that is due: the earliest of this batch, or when that is at its end of the next,
    /// to which all belong that are armed by then.
    pub(super) fn take_due(&mut self) -> Option<Armed> {
        self.take_of_batch().or_else(|| {
            self.index.extend(self.held.drain(..));
            self.batch = order_key();
            self.take_of_batch()
        })
    }

    fn take_of_batch(&mut self) -> Option<Armed> {
        while self.earliest().is_some_and(clock::has_passed) {
            let entry = self.index.pop()?;
            let Reverse((_, number)) = entry;
            if number < self.batch {
                let timer = self.armed.remove(&number);
                self.sweep();
                return timer;
            }
            self.held.push(entry);
        }
        None
    }

    /// Takes off everything.
    pub(super) fn take_all(&mut self) -> BTreeMap<u64, Armed> {
        self.index.clear();
        self.held.clear();
        std::mem::take(&mut self.armed)
    }

    /// Whether the thread sleeps too long for that deadline.
    pub(super) fn oversleeps(&self, due: Deadline) -> bool {
        self.asleep_until.is_some_and(|until| due < until)
    }

    /// Rebuilds the index when too much of it is stale.
    fn sweep(&mut self) {
        if self.index.len() + self.held.len() > 2 * self.armed.len() + SPARE {
            self.held.clear();
            let armed = self.armed.iter();
            self.index = armed
                .map(|(number, armed)| Reverse((armed.due, *number)))
                .collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Deadline {
        Deadline::from_nanos(nanos)
    }

    #[test]
    fn what_is_called_off_or_moved_leaves_little_behind() {
        let mut state = State::new();
        let stays = state.arm(at(1), Box::new(|_| ()));
        for round in 0..10_000 {
            let number = state.arm(at(2), Box::new(|_| ()));
            assert!(state.disarm(number).is_some());
            assert!(state.rearm(stays, at(round % 2)));
            assert!(state.index.len() <= 2 + SPARE + 1, "{}", state.index.len());
        }
        assert_eq!(state.earliest(), Some(at(1)));
        assert!(state.take_due().is_some());
        assert_eq!(state.earliest(), None);
    }

    /// Those called off are hidden by those not called off, until these fire.
    #[test]
    fn what_fires_leaves_little_behind() {
        let mut state = State::new();
        for near in 0..=1_000 {
            state.arm(at(near), Box::new(|_| ()));
        }
        let far = [(); 1_000].map(|()| state.arm(at(u64::MAX - 1), Box::new(|_| ())));
        for number in far {
            assert!(state.disarm(number).is_some());
        }
        while let Some(timer) = state.take_due() {
            drop(timer);
            let (entries, timers) = (state.index.len(), state.armed.len());
            assert!(entries <= 2 * timers + SPARE, "{entries} for {timers}");
        }
        assert_eq!(state.armed.len(), 0);
    }

    #[test]
    fn what_is_armed_in_a_batch_comes_in_the_next_and_can_be_called_off() {
        let mut state = State::new();
        let due = |state: &mut State| state.take_due().map(|timer| timer.due);
        state.arm(at(2), Box::new(|_| ()));
        state.arm(at(4), Box::new(|_| ()));
        assert_eq!(due(&mut state), Some(at(2)));
        let [gone, _] = [1, 3].map(|nanos| state.arm(at(nanos), Box::new(|_| ())));
        assert_eq!(due(&mut state), Some(at(4)));
        assert!(state.disarm(gone).is_some());
        assert_eq!(due(&mut state), Some(at(3)));
        assert_eq!(due(&mut state), None);
    }
}
