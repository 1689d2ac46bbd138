//! The queue of waiters for permits, first come, first served.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::task::Waker;

use flowmeter_harness::sync::Deadline;

use crate::sync::{Unparker, contain};

/// Wakes a waiter. Run and dropped without the lock, since a waker is the executor's code. One that panics keeps no other
/// waiter asleep.
#[derive(Debug)]
pub(super) enum Wake {
    Thread(Unparker),
    Task(Waker),
}

impl Wake {
    pub(super) fn wake(self) {
        match self {
            Wake::Thread(unparker) => unparker.unpark(),
            Wake::Task(waker) => {
                contain(|| waker.wake());
            }
        }
    }
}

/// Names a place in the queue: the number of permits asked for before it, hence greater in later places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

/// The waiters that were granted permits and have not seen it yet, and behind them those that still wait.
#[derive(Debug)]
pub(super) struct Queue<R> {
    places: VecDeque<Waiter<R>>,
    /// How many places at the front were granted.
    granted: usize,
    asked: u64,
}

#[derive(Debug)]
pub(super) struct Waiter<R> {
    ticket: Ticket,
    pub(super) weight: NonZeroU32,
    /// When it will look again by itself, and how to wake it sooner; `None` while it is looking.
    pub(super) sleeping: Option<(Deadline, Wake)>,
    /// The receipt of its permits, once granted.
    pub(super) granted: Option<R>,
}

impl<R> Queue<R> {
    /// An empty queue.
    pub(super) fn new() -> Queue<R> {
        Queue {
            places: VecDeque::new(),
            granted: 0,
            asked: 0,
        }
    }

    /// The first waiter without permits.
    pub(super) fn first(&mut self) -> Option<&mut Waiter<R>> {
        self.places.get_mut(self.granted)
    }

    /// Enters at the end.
    pub(super) fn enter(&mut self, weight: NonZeroU32) -> Ticket {
        let ticket = Ticket(self.asked);
        self.asked += u64::from(weight.get());
        self.places.push_back(Waiter {
            ticket,
            weight,
            sleeping: None,
            granted: None,
        });
        ticket
    }

    /// Grants permits to the first waiter without; returns how to wake it.
    pub(super) fn grant_first(&mut self, receipt: R) -> Option<Wake> {
        let first = self.first()?;
        first.granted = Some(receipt);
        let sleeping = first.sleeping.take();
        self.granted += 1;
        sleeping.map(|(_, wake)| wake)
    }

    /// The waiter in that place.
    pub(super) fn waiter(&mut self, ticket: Ticket) -> &mut Waiter<R> {
        let place = self.place(ticket);
        &mut self.places[place]
    }

    /// How many permits have to be acquired until that waiter has its own. An overestimate where a waiter
    /// between it and the first has left; exact for the first.
    pub(super) fn distance(&mut self, ticket: Ticket) -> u64 {
        let weight = self.waiter(ticket).weight.get();
        let first = self.first().map_or(ticket, |first| first.ticket);
        ticket.0 - first.0 + u64::from(weight)
    }

    /// Gives up a place.
    pub(super) fn leave(&mut self, ticket: Ticket) -> Waiter<R> {
        let place = self.place(ticket);
        let gone = self.places.remove(place).expect("it has its place");
        self.granted -= usize::from(gone.granted.is_some());
        gone
    }

    fn place(&self, ticket: Ticket) -> usize {
        let places = self.places.binary_search_by_key(&ticket, |w| w.ticket);
        places.expect("only the waiter gives up its place")
    }
}

#[cfg(test)]
mod tests {
    #[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    struct Panics;

    #[derive(Default)]
    struct Hears(AtomicBool);

    #[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
    impl std::task::Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("no task today");
        }
    }

    #[allow(clippy::disallowed_types, reason = "`Wake` is written over std's Arc")]
    impl std::task::Wake for Hears {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_waker_that_panics_keeps_no_other_waiter_asleep() {
        let hears = Arc::new(Hears::default());
        let wakers = [Arc::new(Panics).into(), Arc::clone(&hears).into()];
        wakers.map(Wake::Task).into_iter().for_each(Wake::wake);
        assert!(hears.0.load(Ordering::SeqCst), "the second was not woken");
    }
}
