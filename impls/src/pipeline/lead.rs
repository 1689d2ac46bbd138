//! A thing that the loops of a pipeline use one at a time, no matter which of them: the input, of which one of them takes.
//!
//! Whoever gives it back calls one that waits, unless one is on its way already, and may be back before that one is there.
//! So a loop whose items have nothing to wait for takes one after the other without waking anybody for each, while those
//! that have nothing to do come as fast as the executor lets them. Who comes late waits to be called again. In the
//! order in which they ask, as in `turns`, each item would be another loop's, and cost a wake-up.
//!
//! Invariant, whenever the lock is free: where the thing is here and somebody waits, somebody else is on its way.

use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::task::{Context, Poll, Waker};

use crate::sync::Mutex;

/// One thing, for one at a time.
pub(super) struct Lead<T>(Mutex<State<T>>);

struct State<T> {
    /// Nothing while somebody has it.
    thing: Option<T>,
    /// Who was called and is not here yet.
    called: Option<u64>,
    /// Those who wait, each with a number of its own.
    waiting: Vec<(u64, Waker)>,
    next_number: u64,
}

/// The thing, until this is dropped.
pub(super) struct Leading<'a, T> {
    /// There until then.
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

    /// Who waits here waits until it is called: one that is dropped meanwhile holds up the others. That happens only
    /// where the executor is dropped, and they are with it.
    pub(super) async fn take(&self) -> Leading<'_, T> {
        let mut number = None;
        let thing = poll_fn(|context| self.poll_thing(&mut number, context)).await;
        Leading {
            thing: Some(thing),
            lead: self,
        }
    }

    fn poll_thing(&self, number: &mut Option<u64>, context: &Context<'_>) -> Poll<T> {
        let mut state = self.0.lock();
        if let Some(thing) = state.thing_for(number) {
            return Poll::Ready(thing);
        }
        drop(state);
        // Cloned, and the old one dropped, without the lock: both run code of the executor.
        let waker = context.waker().clone();
        let mut state = self.0.lock();
        if let Some(thing) = state.thing_for(number) {
            return Poll::Ready(thing);
        }
        let old = state.wait(number, waker);
        drop(state);
        drop(old);
        Poll::Pending
    }
}

impl<T> State<T> {
    /// The thing, if it is here. Whoever was called is here now.
    fn thing_for(&mut self, number: &mut Option<u64>) -> Option<T> {
        if number.is_some() && self.called == *number {
            self.called = None;
            *number = None;
        }
        let thing = self.thing.take()?;
        if let Some(mine) = number.take() {
            self.waiting.retain(|(waits, _)| *waits != mine);
        }
        Some(thing)
    }

    /// Has it wait, once. Answers the waker that it had before.
    fn wait(&mut self, number: &mut Option<u64>, waker: Waker) -> Option<Waker> {
        let Some(mine) = *number else {
            *number = Some(self.next_number);
            self.waiting.push((self.next_number, waker));
            self.next_number += 1;
            return None;
        };
        let mut waiting = self.waiting.iter_mut();
        let place = waiting.find(|(waits, _)| *waits == mine);
        let (_, old) = place.expect("it waits until it is called");
        Some(std::mem::replace(old, waker))
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

impl<T> Drop for Leading<'_, T> {
    fn drop(&mut self) {
        let mut state = self.lead.0.lock();
        state.thing = self.thing.take();
        if state.called.is_some() {
            return;
        }
        let next = state.waiting.pop();
        state.called = next.as_ref().map(|(number, _)| *number);
        drop(state);
        if let Some((_, waker)) = next {
            waker.wake();
        }
    }
}
