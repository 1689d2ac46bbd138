//! What is notified of an answer.

use std::task::Waker;

use super::trampoline::{self, Call};
use crate::sync::{Parker, Track, Unparker, contain};

/// What is notified of an answer.
pub enum Notify {
    /// A waiting thread. The checkers report one that is never dropped.
    Thread(Track<Unparker>),
    /// A task with a pending future.
    Task(Waker),
    /// A callback, with its answer in it.
    Call(Call),
    /// Nothing to notify now.
    Nothing,
}

impl Notify {
    /// The thread of that parker.
    pub(super) fn thread(parker: &Parker) -> Self {
        Notify::Thread(Track::new(parker.unparker()))
    }

    /// Notifies. Call it outside every lock.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn tell(self) {
        match self {
            Notify::Task(waker) => {
                contain(|| waker.wake());
            }
            Notify::Thread(unparker) => unpark(unparker),
            Notify::Call(call) => trampoline::run(call),
            Notify::Nothing => {}
        }
    }
}

/// Not inlined, so that a task which puts or takes in many places has no code for threads in each.
#[inline(never)]
fn unpark(unparker: Track<Unparker>) {
    unparker.get_ref().unpark();
}
