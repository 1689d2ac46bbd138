//! A thing that the loops of a pipeline use one after the other, in the order in which they ask.
//!
//! Any number may wait for its turn, where a channel admits so many waiters only. Who has asked is waited for: a
//! loop that is dropped meanwhile holds up those behind it. That happens only where the executor is dropped,
//! and they are with it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::task::{Poll, Waker};

use crate::sync::Mutex;

/// One thing, for one at a time.
pub(super) struct Turns<T>(Mutex<State<T>>);

struct State<T> {
    /// Nothing while somebody has it.
    thing: Option<T>,
    /// For whom it is here; for anybody where nobody waits.
    called: Option<u64>,
    /// Those who wait, numbered in the order in which they asked.
    waiting: VecDeque<(u64, Waker)>,
    next_number: u64,
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
            called: None,
            waiting: VecDeque::new(),
            next_number: 0,
        }))
    }

    pub(super) async fn take(&self) -> Turn<'_, T> {
        let mut number = None;
        let thing = poll_fn(|context| {
            // Cloned, and the old one dropped, without the lock: both run code of the executor.
            let mut waker = context.waker().clone();
            let mut state = self.0.lock();
            if state.called == number
                && let Some(thing) = state.thing.take()
            {
                state.called = None;
                return Poll::Ready(thing);
            }
            match number {
                None => {
                    let mine = state.next_number;
                    state.next_number += 1;
                    state.waiting.push_back((mine, waker));
                    number = Some(mine);
                }
                Some(mine) => {
                    let place = state.waiting.binary_search_by_key(&mine, |(n, _)| *n);
                    let place = place.expect("it waits until it is called");
                    std::mem::swap(&mut state.waiting[place].1, &mut waker);
                }
            }
            Poll::Pending
        })
        .await;
        Turn {
            thing: Some(thing),
            turns: self,
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
        let next = state.waiting.pop_front().map(|(number, waker)| {
            state.called = Some(number);
            waker
        });
        drop(state);
        if let Some(next) = next {
            next.wake();
        }
    }
}
