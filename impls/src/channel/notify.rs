//! Who hears of an answer.

use std::task::Waker;

use super::trampoline;
use crate::sync::{Unparker, contain};

/// Who hears of an answer.
pub enum Notify {
    /// A thread that waits.
    Thread(Unparker),
    /// A task whose future is pending.
    Task(Waker),
    /// A callback, with its answer in it.
    Call(Box<dyn FnOnce() + Send>),
    /// Nobody any more.
    Nobody,
}

impl Notify {
    /// Tells it. Call it outside every lock.
    pub(super) fn tell(self) {
        match self {
            Notify::Thread(unparker) => unparker.unpark(),
            Notify::Task(waker) => {
                contain(|| waker.wake());
            }
            Notify::Call(call) => trampoline::run(call),
            Notify::Nobody => {}
        }
    }
}
