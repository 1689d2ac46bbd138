//! A thing that the loops of a pipeline use one after the other, in the order in which they ask.
//!
//! Any number may wait for its turn, where a channel admits so many waiters only. Who has asked is waited for, also before
//! it comes for its turn, unless it is dropped meanwhile, as where its loop panics: then its place is passed over.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::task::Waker;

use crate::sync::Mutex;

use super::look::look_or_leave;

/// One thing, for one at a time.
pub(super) struct Turns<T>(Mutex<State<T>>);

struct State<T> {
    /// Nothing while somebody has it.
    thing: Option<T>,
    /// Whose turn it is, or will be, of those who ask, who are numbered from 0.
    turn: u64,
    /// Those who have asked and whose turn is not over, from that one on.
    asked: VecDeque<Place>,
}

enum Place {
    /// Somebody's, with what wakes it once it waits.
    Had(Option<Waker>),
    Left,
}

/// A place in the line for the thing.
pub(super) struct Asked<'a, T> {
    number: u64,
    /// While it has its turn.
    thing: Option<T>,
    turns: &'a Turns<T>,
}

/// The thing, until this is dropped.
pub(super) struct Turn<'a, T>(Asked<'a, T>);

impl<T> Turns<T> {
    pub(super) fn new(thing: T) -> Self {
        Turns(Mutex::new(State {
            thing: Some(thing),
            turn: 0,
            asked: VecDeque::new(),
        }))
    }

    /// A turn after all those that were asked for before.
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

    /// Answers what the place was before, for whoever has given the lock back: a waker may be in it.
    fn change(&mut self, number: u64, to: Place) -> Place {
        let place = usize::try_from(number - self.turn).expect("the line is in memory");
        std::mem::replace(&mut self.asked[place], to)
    }

    /// Passes over those that were left; answers whom to wake then.
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
