//! A queue with elements that can be taken once they are due: `java.util.concurrent.DelayQueue`.
//!
//! It has one lock, a heap, and a leader among the waiting takes. The leader waits for the deadline of the
//! head; all other takes (followers) wait until notified. A new head deposes the leader and wakes one take. A
//! take that has its element wakes the next if elements are left and there is no leader. Unlike the original,
//! the queue can be closed.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use flowmeter_harness::sync::Deadline;

use crate::sync::{Condvar, Mutex, clock, order_key};

/// The queue.
pub(super) struct DelayQueue<E> {
    state: Mutex<State<E>>,
    available: Condvar,
}

struct State<E> {
    heap: BinaryHeap<Delayed<E>>,
    offered: u64,
    /// The take that waits for the head.
    leader: Option<u64>,
    closed: bool,
}

/// An element and when it is due. Elements with equal deadlines leave in the order in which they came.
struct Delayed<E> {
    due: Deadline,
    number: u64,
    element: E,
}

impl<E> Delayed<E> {
    fn key(&self) -> (Deadline, u64) {
        (self.due, self.number)
    }
}

impl<E> PartialEq for Delayed<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Delayed<E> {}

impl<E> PartialOrd for Delayed<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Delayed<E> {
    /// Reversed: the greatest element of the heap is the one that is due first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<E> DelayQueue<E> {
    pub(super) fn new() -> Self {
        DelayQueue {
            state: Mutex::new(State {
                heap: BinaryHeap::new(),
                offered: 0,
                leader: None,
                closed: false,
            }),
            available: Condvar::new(),
        }
    }

    /// Inserts an element, to be taken from `due` on. A closed queue drops it.
    pub(super) fn offer(&self, due: Deadline, element: E) {
        let mut state = self.state.lock();
        if state.closed {
            drop(state);
            return drop(element);
        }
        let number = state.offered;
        state.offered += 1;
        state.heap.push(Delayed {
            due,
            number,
            element,
        });
        let is_head = state.heap.peek().is_some_and(|head| head.number == number);
        if is_head {
            state.leader = None;
        }
        drop(state);
        if is_head {
            self.available.notify_one();
        }
    }

    /// Waits for an element that is due, and takes the earliest; `None` when the queue is closed.
    pub(super) fn take(&self) -> Option<E> {
        let me = order_key();
        let mut state = self.state.lock();
        let taken = loop {
            if state.closed {
                break None;
            }
            match state.heap.peek().map(|head| head.due) {
                Some(due) if clock::has_passed(due) => break state.heap.pop(),
                Some(due) if state.leader.is_none() => {
                    state.leader = Some(me);
                    (state, _) = self.available.wait_until(state, due);
                    // Another take may lead by now: a new head deposed this one.
                    if state.leader == Some(me) {
                        state.leader = None;
                    }
                }
                _ => state = self.available.wait(state),
            }
        };
        let next = state.leader.is_none() && !state.heap.is_empty();
        drop(state);
        if next {
            self.available.notify_one();
        }
        taken.map(|delayed| delayed.element)
    }

    /// Ends all takes, and returns the elements that were not taken.
    pub(super) fn close(&self) -> impl Iterator<Item = E> + use<E> {
        let mut state = self.state.lock();
        state.closed = true;
        let left = std::mem::take(&mut state.heap);
        drop(state);
        self.available.notify_all();
        left.into_iter().map(|delayed| delayed.element)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flowmeter_harness::channel::Buffer;

    use super::*;
    use crate::channel::mutex::Channel;
    use crate::sync::{Arc, spawn};

    /// The daemon is a single taker; leaders and followers need several. Each takes once, so only a follower
    /// is left to take the next.
    #[test]
    fn a_taker_passes_the_lead_on() {
        const TAKERS: u64 = 4;
        for _ in 0..50 {
            let queue = Arc::new(DelayQueue::new());
            let taken = Channel::new(Buffer::Unbounded);
            for _ in 0..TAKERS {
                let (queue, taken) = (queue.clone(), taken.clone());
                spawn(move || {
                    let due = queue.take().expect("nothing closes it");
                    assert!(clock::has_passed(due), "taken before it was due");
                    taken.put(()).expect("nothing closes it");
                });
            }
            // Each offer is a new head.
            for earlier in 0..TAKERS {
                let due = clock::after(Duration::from_micros(400 - 100 * earlier));
                queue.offer(due, due);
            }
            let patience = clock::after(Duration::from_secs(20));
            for _ in 0..TAKERS {
                assert_eq!(taken.take_until(patience), Ok(()), "no taker leads");
            }
        }
    }
}
