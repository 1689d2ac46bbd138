//! A resource that the loops of a pipeline use one at a time, in no particular order: the input, from which they take.
//!
//! The loop that gives it back wakes one waiting loop, unless one has been woken already. It may take the resource
//! again before that loop arrives. So a loop with items that never wait takes them one after the other without
//! wake-ups, while idle loops join as fast as the executor runs them. A loop that arrives too late waits to be woken
//! again. If loops were served in the order of their requests, as in `turns`, each item would go to another loop and
//! cost a wake-up.
//!
//! Invariant, whenever the lock is free: where the resource is here and loops wait, another loop has been called and
//! has not arrived yet.

use std::future::poll_fn;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::task::{Context, Poll, Waker};

use crate::sync::Mutex;

use super::look::look_or_leave;

/// A resource for one user at a time.
pub(super) struct Lead<T>(Mutex<State<T>>);

struct State<T> {
    /// `None` while a loop has it.
    thing: Option<T>,
    /// The loop that was called and has not arrived yet.
    called: Option<u64>,
    /// The loops that wait, each with a number of its own.
    waiting: Vec<(u64, Waker)>,
    next_number: u64,
}

/// The resource, until this is dropped.
pub(super) struct Leading<'a, T> {
    /// `Some` until then.
    thing: Option<T>,
    lead: &'a Lead<T>,
}

impl<T> Lead<T> {
    pub(super) fn new(thing: T) -> Self {
        Lead(Mutex::new(State {
            thing: Some(thing),
            called: None,
            waiting: Vec::new(),
            next_number: 0,
        }))
    }

    /// The future must be polled until it has the resource. A future dropped before that would still be called, and no
    /// other after it. This happens only where the executor is dropped, and all loops with it.
    pub(super) async fn take(&self) -> Leading<'_, T> {
        let mut number = None;
        let (thing, uncalled) = poll_fn(|context| self.poll_thing(&mut number, context)).await;
        let leading = Leading {
            thing: Some(thing),
            lead: self,
        };
        drop(uncalled);
        leading
    }

    /// The resource, and the waker that was left for it if it was not called.
    fn poll_thing(
        &self,
        number: &mut Option<u64>,
        context: &Context<'_>,
    ) -> Poll<(T, Option<Waker>)> {
        let mine = *number;
        let look = |state: &mut State<T>| state.thing_for(mine);
        look_or_leave(&self.0, context, look, |state, waker| {
            state.wait(number, waker)
        })
    }
}

impl<T> State<T> {
    /// The resource, if it is here, and the waker of a wait that ends with it. A loop that was called has arrived now.
    fn thing_for(&mut self, number: Option<u64>) -> Option<(T, Option<Waker>)> {
        if number.is_some() && self.called == number {
            self.called = None;
        }
        let thing = self.thing.take()?;
        let place = self.place_of(number);
        Some((thing, place.map(|place| self.waiting.swap_remove(place).1)))
    }

    /// Registers the loop as waiting, once. Returns its former waker.
    fn wait(&mut self, number: &mut Option<u64>, waker: Waker) -> Option<Waker> {
        if let Some(place) = self.place_of(*number) {
            return Some(mem::replace(&mut self.waiting[place].1, waker));
        }
        *number = Some(self.next_number);
        self.waiting.push((self.next_number, waker));
        self.next_number += 1;
        None
    }

    /// Where a loop waits that has not been called.
    fn place_of(&self, number: Option<u64>) -> Option<usize> {
        let number = number?;
        self.waiting.iter().position(|(waits, _)| *waits == number)
    }
}

const THERE: &str = "it goes when the lead is over";

impl<T> Deref for Leading<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.thing.as_ref().expect(THERE)
    }
}

impl<T> DerefMut for Leading<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.thing.as_mut().expect(THERE)
    }
}

impl<T> Leading<'_, T> {
    /// Returns whether this woke another loop; `stint` explains why the caller needs to know.
    pub(super) fn give_back(mut self) -> bool {
        self.end()
    }

    fn end(&mut self) -> bool {
        let Some(thing) = self.thing.take() else {
            return false;
        };
        let mut state = self.lead.0.lock();
        state.thing = Some(thing);
        if state.called.is_some() {
            return false;
        }
        let next = state.waiting.pop();
        state.called = next.as_ref().map(|(number, _)| *number);
        drop(state);
        let Some((_, waker)) = next else {
            return false;
        };
        waker.wake();
        true
    }
}

impl<T> Drop for Leading<'_, T> {
    fn drop(&mut self) {
        self.end();
    }
}
