//! A resource that the loops of a pipeline use one after the other, in the order of their requests.
//!
//! Any number of loops may wait for a turn, where a channel admits a limited number of waiters. A loop that has asked
//! holds its place even before it comes to wait. If its request is dropped, as when the loop panics, the place is
//! skipped.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::task::Waker;

use crate::sync::Mutex;

use super::look::look_or_leave;

/// A resource for one user at a time.
pub(super) struct Turns<T>(Mutex<State<T>>);

struct State<T> {
    /// `None` while a loop has it.
    thing: Option<T>,
    /// The number of the request that has its turn, or will have the next. Requests are numbered from 0.
    turn: u64,
    /// The requests from that one on.
    asked: VecDeque<Place>,
}

enum Place {
    /// Taken, with what wakes its loop once that waits.
    Had(Option<Waker>),
    Left,
}

/// A place in the line for the resource.
pub(super) struct Asked<'a, T> {
    number: u64,
    /// `Some` during its turn.
    thing: Option<T>,
    turns: &'a Turns<T>,
}

/// The resource, until this is dropped.
pub(super) struct Turn<'a, T>(Asked<'a, T>);

impl<T> Turns<T> {
    pub(super) fn new(thing: T) -> Self {
        Turns(Mutex::new(State {
            thing: Some(thing),
            turn: 0,
            asked: VecDeque::new(),
        }))
    }

    /// Requests a turn after all those requested before.
    pub(super) fn ask(&self) -> Asked<'_, T> {
        let mut state = self.0.lock();
        let number = state.turn + state.asked.len() as u64;
        state.asked.push_back(Place::Had(None));
        Asked {
            number,
            thing: None,
            turns: self,
        }
    }

    pub(super) async fn take(&self) -> Turn<'_, T> {
        self.ask().come().await
    }
}

impl<'a, T> Asked<'a, T> {
    pub(super) async fn come(mut self) -> Turn<'a, T> {
        let (turns, number) = (self.turns, self.number);
        let look = |state: &mut State<T>| state.thing_for(number);
        let thing = poll_fn(|context| {
            look_or_leave(&turns.0, context, look, |state, waker| {
                state.change(number, Place::Had(Some(waker)))
            })
        })
        .await;
        self.thing = Some(thing);
        Turn(self)
    }
}

impl<T> State<T> {
    fn thing_for(&mut self, number: u64) -> Option<T> {
        if self.turn == number {
            self.thing.take()
        } else {
            None
        }
    }

    /// Returns the former place, to be dropped without the lock: it may hold a waker.
    fn change(&mut self, number: u64, to: Place) -> Place {
        let place = usize::try_from(number - self.turn).expect("the line is in memory");
        std::mem::replace(&mut self.asked[place], to)
    }

    /// Skips the places that were left; returns the waker of the next turn.
    fn pass(&mut self) -> Option<Waker> {
        while let Some(Place::Left) = self.asked.front() {
            self.asked.pop_front();
            self.turn += 1;
        }
        match self.asked.front_mut() {
            Some(Place::Had(waker)) => waker.take(),
            _ => None,
        }
    }
}

const THERE: &str = "it goes when the turn is over";

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.thing.as_ref().expect(THERE)
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.thing.as_mut().expect(THERE)
    }
}

impl<T> Drop for Asked<'_, T> {
    fn drop(&mut self) {
        let mut state = self.turns.0.lock();
        if let Some(thing) = self.thing.take() {
            state.thing = Some(thing);
        }
        let old = state.change(self.number, Place::Left);
        let next = state.pass();
        drop(state);
        if let Some(next) = next {
            next.wake();
        }
        drop(old);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::Context;

    use super::*;

    #[test]
    fn a_place_that_was_left_is_passed_over() {
        let turns = Turns::new(());
        let mut context = Context::from_waker(Waker::noop());
        let [first, second, third] = [(); 3].map(|()| turns.ask());
        let mut third = pin!(third.come());
        assert!(third.as_mut().poll(&mut context).is_pending());
        drop(second);
        assert!(third.as_mut().poll(&mut context).is_pending());
        drop(first);
        assert!(third.as_mut().poll(&mut context).is_ready());
    }
}
