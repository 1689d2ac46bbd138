//! What an operation leaves to be done outside the channel's lock.

use std::task::Waker;

use super::operation::Operation;
use crate::channel::design::Deferred;
use crate::sync::{Arc, contain};

/// Waking, and dropping values that a buffer discards.
pub struct Effects<T> {
    first: Option<Arc<Operation>>,
    /// Only a close, a promise or a value given back wakes more than one.
    more: Vec<Arc<Operation>>,
    /// The wakers of futures that wait for the close.
    pub(super) wakers: Vec<Waker>,
    /// Rarely more than one.
    pub(super) discarded: Vec<T>,
}

impl<T: 'static> Effects<T> {
    pub(super) fn wake(&mut self, operation: Arc<Operation>) {
        if self.first.is_none() {
            self.first = Some(operation);
        } else {
            self.more.push(operation);
        }
    }
}

impl<T> Deferred for Effects<T> {
    #[inline]
    fn new() -> Self {
        Effects {
            first: None,
            more: Vec::new(),
            wakers: Vec::new(),
            discarded: Vec::new(),
        }
    }

    #[inline]
    fn run(self) {
        for operation in self.first.into_iter().chain(self.more) {
            operation.notify();
        }
        for waker in self.wakers {
            contain(|| waker.wake());
        }
    }
}
