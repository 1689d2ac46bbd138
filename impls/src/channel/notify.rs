//! What is notified of an answer.

use std::task::Waker;

use super::trampoline::{self, Call};
use crate::sync::{Unparker, contain};

/// What is notified of an answer.
pub enum Notify {
    /// A waiting thread.
    Thread(Unparker),
    /// A task with a pending future.
    Task(Waker),
    /// A callback, with its answer in it.
    Call(Call),
    /// Nothing to notify now.
    Nothing,
}

impl Notify {
    /// Notifies. Call it outside every lock.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn tell(self) {
        match self {
            Notify::Thread(unparker) => unparker.unpark(),
            Notify::Task(waker) => {
                contain(|| waker.wake());
            }
            Notify::Call(call) => trampoline::run(call),
            Notify::Nothing => {}
        }
    }
}
