//! A thing that the loops of a pipeline use one after the other, in the order in which they ask.
//!
//! Any number may wait for its turn, where a channel admits so many waiters only. Who has asked is waited for, also before
//! it comes for its turn; a loop that is dropped meanwhile holds up those behind it. That happens only where the
//! executor is dropped, and they are with it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::task::{Context, Poll, Waker};

use crate::sync::Mutex;

/// One thing, for one at a time.
pub(super) struct Turns<T>(Mutex<State<T>>);

struct State<T> {
    /// Nothing while somebody has it.
    thing: Option<T>,
    /// Whose turn it is, or will be, of those who ask, who are numbered from 0.
    turn: u64,
    /// Those who have asked and had no turn yet, with what wakes them once they wait.
    asked: VecDeque<Option<Waker>>,
}

/// A place in the line for the thing.
pub(super) struct Asked<'a, T> {
    number: u64,
    turns: &'a Turns<T>,
}

/// The thing, until this is dropped.
pub(super) struct Turn<'a, T> {
    /// There until then.
    thing: Option<T>,
    turns: &'a Turns<T>,
}

impl<T> Turns<T> {
    pub(super) fn new(thing: T) -> Self {
        Turns(Mutex::new(State {
            thing: Some(thing),
            turn: 0,
            asked: VecDeque::new(),
        }))
    }

    /// A turn after all those that were asked for before, which has to be taken.
    pub(super) fn ask(&self) -> Asked<'_, T> {
        let mut state = self.0.lock();
        let number = state.turn + state.asked.len() as u64;
        state.asked.push_back(None);
        Asked {
            number,
            turns: self,
        }
    }

    pub(super) async fn take(&self) -> Turn<'_, T> {
        self.ask().come().await
    }
}

impl<'a, T> Asked<'a, T> {
    pub(super) async fn come(self) -> Turn<'a, T> {
        let thing = poll_fn(|context| self.poll_thing(context)).await;
        Turn {
            thing: Some(thing),
            turns: self.turns,
        }
    }

    fn poll_thing(&self, context: &Context<'_>) -> Poll<T> {
        if let Some(thing) = self.turns.0.lock().thing_for(self.number) {
            return Poll::Ready(thing);
        }
        // Cloned, and the old one dropped, without the lock: both run code of the executor.
        let waker = context.waker().clone();
        let mut state = self.turns.0.lock();
        if let Some(thing) = state.thing_for(self.number) {
            return Poll::Ready(thing);
        }
        let place = usize::try_from(self.number - state.turn).expect("the line is in memory");
        let old = state.asked[place].replace(waker);
        drop(state);
        drop(old);
        Poll::Pending
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
}

const THERE: &str = "it goes when the turn is over";

impl<T> Deref for Turn<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.thing.as_ref().expect(THERE)
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.thing.as_mut().expect(THERE)
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        let mut state = self.turns.0.lock();
        state.thing = self.thing.take();
        state.turn += 1;
        state.asked.pop_front();
        let next = state.asked.front_mut().and_then(Option::take);
        drop(state);
        if let Some(next) = next {
            next.wake();
        }
    }
}
