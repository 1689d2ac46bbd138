//! What is armed, in the order of deadlines.
//!
//! The heap is an index of the armed timers: one called off or moved leaves its entry behind, which is passed
//! over when it comes up. Invariant: at most as many entries as timers and [`SPARE`] more are left behind.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::Fired;

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
    /// By number. Numbers are never used again, so a stale handle finds nothing.
    armed: BTreeMap<u64, Armed>,
    /// The next number.
    next: u64,
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
            next: 0,
            asleep_until: None,
            stopping: false,
        }
    }

    /// Arms a timer; answers its number.
    pub(super) fn arm(&mut self, due: Deadline, then: Call) -> u64 {
        let number = self.next;
        self.next += 1;
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

    /// Takes off the timer with the next deadline.
    pub(super) fn take_earliest(&mut self) -> Option<Armed> {
        self.earliest()?;
        let Reverse((_, number)) = self.index.pop()?;
        self.armed.remove(&number)
    }

    /// Takes off everything.
    pub(super) fn take_all(&mut self) -> BTreeMap<u64, Armed> {
        self.index.clear();
        std::mem::take(&mut self.armed)
    }

    /// Whether the thread sleeps too long for that deadline.
    pub(super) fn oversleeps(&self, due: Deadline) -> bool {
        self.asleep_until.is_some_and(|until| due < until)
    }

    /// Rebuilds the index when too much of it is stale.
    fn sweep(&mut self) {
        if self.index.len() > 2 * self.armed.len() + SPARE {
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
        assert!(state.take_earliest().is_some());
        assert_eq!(state.earliest(), None);
    }
}
