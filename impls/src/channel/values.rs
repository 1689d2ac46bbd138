//! The values of a consumer as an iterator.

use flowmeter_harness::channel::{Polled, TakeError};

use super::design::Design;
use super::halves::Consumer;

/// Values until the channel is closed and empty, waiting for each.
#[derive(Debug)]
pub struct Values<C>(C);

/// The values that are there now, without waiting.
#[derive(Debug)]
pub struct Ready<'a, D: Design>(&'a Consumer<D>);

impl<D: Design> Consumer<D> {
    /// Values until the channel is closed and empty, waiting for each. `for value in &consumer` is the same.
    ///
    /// The iterator panics if [`Consumer::take`] would be refused because too many takes wait already (C7).
    pub fn iter(&self) -> Values<&Consumer<D>> {
        Values(self)
    }

    /// The values that are there now. The iterator ends where a take would wait, and may go on later.
    pub fn ready(&self) -> Ready<'_, D> {
        Ready(self)
    }
}

fn next<D: Design>(consumer: &Consumer<D>) -> Option<D::Value> {
    match consumer.take() {
        Ok(value) => Some(value),
        Err(TakeError::Closed) => None,
        Err(TakeError::TooManyWaiters) => {
            panic!("as many takes wait on {consumer:?} as it admits: an iterator cannot say so")
        }
    }
}

impl<D: Design> Iterator for Values<&Consumer<D>> {
    type Item = D::Value;

    fn next(&mut self) -> Option<D::Value> {
        next(self.0)
    }
}

impl<D: Design> Iterator for Values<Consumer<D>> {
    type Item = D::Value;

    fn next(&mut self) -> Option<D::Value> {
        next(&self.0)
    }
}

impl<D: Design> Iterator for Ready<'_, D> {
    type Item = D::Value;

    fn next(&mut self) -> Option<D::Value> {
        match self.0.poll() {
            Polled::Done(value) => Some(value),
            Polled::WouldWait | Polled::Closed => None,
        }
    }
}

impl<'a, D: Design> IntoIterator for &'a Consumer<D> {
    type Item = D::Value;
    type IntoIter = Values<&'a Consumer<D>>;

    fn into_iter(self) -> Self::IntoIter {
        Values(self)
    }
}

impl<D: Design> IntoIterator for Consumer<D> {
    type Item = D::Value;
    type IntoIter = Values<Consumer<D>>;

    fn into_iter(self) -> Self::IntoIter {
        Values(self)
    }
}
