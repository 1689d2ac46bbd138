//! Who waits for permits, first come, first served.

use std::collections::VecDeque;
use std::task::Waker;

use crate::sync::Unparker;

/// Wakes one who waits; run without the lock, since a waker is the executor's code.
#[derive(Debug)]
pub(super) enum Wake {
    Thread(Unparker),
    Task(Waker),
}

impl Wake {
    pub(super) fn wake(self) {
        match self {
            Wake::Thread(unparker) => unparker.unpark(),
            Wake::Task(waker) => waker.wake(),
        }
    }
}

/// What names one place in the queue; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(u64);

/// Only the first sleeps for the return of permits; when it leaves, the next one is woken to be the first.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiters: VecDeque<Waiter>,
    next: u64,
}

#[derive(Debug)]
struct Waiter {
    ticket: Ticket,
    /// How it learns that it is the first; `None` once it was told, or before it has said.
    wake: Option<Wake>,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.waiters.is_empty()
    }

    /// The last place.
    pub(super) fn enter(&mut self, wake: Option<Wake>) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.waiters.push_back(Waiter { ticket, wake });
        ticket
    }

    pub(super) fn is_first(&self, ticket: Ticket) -> bool {
        let first = self.waiters.front();
        first.is_some_and(|first| first.ticket == ticket)
    }

    /// Replaces what wakes that waiter, and gives back what did.
    pub(super) fn replace_wake(&mut self, ticket: Ticket, wake: Wake) -> Option<Wake> {
        let place = self.place(ticket)?;
        self.waiters[place].wake.replace(wake)
    }

    /// Gives up a place; whom to wake then.
    pub(super) fn leave(&mut self, ticket: Ticket) -> Option<Wake> {
        let place = self.place(ticket)?;
        self.waiters.remove(place);
        if place > 0 {
            return None;
        }
        self.waiters.front_mut()?.wake.take()
    }

    fn place(&self, ticket: Ticket) -> Option<usize> {
        let places = self.waiters.binary_search_by_key(&ticket, |w| w.ticket);
        places.ok()
    }
}
