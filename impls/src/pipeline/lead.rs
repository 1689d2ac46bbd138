//! A thing that the loops of a pipeline use one at a time, no matter which of them: the input, of which one of them takes.
//!
//! Whoever gives it back calls one that waits, unless one is on its way already, and may be back before that one is there.
//! So a loop whose items have nothing to wait for takes one after the other without waking anybody for each, while those
//! that have nothing to do come as fast as the executor lets them. Who comes late waits to be called again. In the
//! order in which they ask, as in `turns`, each item would be another loop's, and cost a wake-up.
//!
//! Invariant, whenever the lock is free: where the thing is here and somebody waits, somebody else is on its way.

use std::future::poll_fn;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::task::{Context, Poll, Waker};

use crate::sync::Mutex;

use super::look::look_or_leave;

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

    /// Whoever waits here has to wait until it has the thing: one that is dropped meanwhile would be called in vain,
    /// and nobody after it. That happens only where the executor is dropped, and the others are with it.
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

    /// With the thing comes the waker that was left for it, where nobody has called.
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
    /// The thing, if it is here, and the waker of a wait that ends with it. Whoever was called is here now.
    fn thing_for(&mut self, number: Option<u64>) -> Option<(T, Option<Waker>)> {
        if number.is_some() && self.called == number {
            self.called = None;
        }
        let thing = self.thing.take()?;
        let place = self.place_of(number);
        Some((thing, place.map(|place| self.waiting.swap_remove(place).1)))
    }

    /// Has it wait, once. Answers the waker that it had before.
    fn wait(&mut self, number: &mut Option<u64>, waker: Waker) -> Option<Waker> {
        if let Some(place) = self.place_of(*number) {
            return Some(mem::replace(&mut self.waiting[place].1, waker));
        }
        *number = Some(self.next_number);
        self.waiting.push((self.next_number, waker));
        self.next_number += 1;
        None
    }

    /// Where one waits that has not been called.
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
    /// Answers whether that has called somebody: `stint` tells why one wants to know.
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
