//! What a consumer takes, as an iterator.

use flowmeter_harness::channel::{Polled, TakeError};

use super::halves::{Consumer, Handle};

/// Values until the channel is closed and empty, waiting for each.
#[derive(Debug)]
pub struct Values<C>(C);

/// The values that are there now, without waiting.
#[derive(Debug)]
pub struct Ready<'a, H: Handle>(&'a Consumer<H>);

impl<H: Handle> Consumer<H> {
    /// Values until the channel is closed and empty, waiting for each; `for value in &consumer` is the same.
    ///
    /// The iterator panics where [`Consumer::take`] would be refused because too many takes wait already (C7).
    pub fn iter(&self) -> Values<&Consumer<H>> {
        Values(self)
    }

    /// The values that are there now: it ends where a take would wait, and may go on later.
    pub fn ready(&self) -> Ready<'_, H> {
        Ready(self)
    }
}

fn next<H: Handle>(consumer: &Consumer<H>) -> Option<H::Value> {
    match consumer.take() {
        Ok(value) => Some(value),
        Err(TakeError::Closed) => None,
        Err(TakeError::TooManyWaiters) => {
            panic!("as many takes wait on {consumer:?} as it admits: an iterator cannot say so")
        }
    }
}

impl<H: Handle> Iterator for Values<&Consumer<H>> {
    type Item = H::Value;

    fn next(&mut self) -> Option<H::Value> {
        next(self.0)
    }
}

impl<H: Handle> Iterator for Values<Consumer<H>> {
    type Item = H::Value;

    fn next(&mut self) -> Option<H::Value> {
        next(&self.0)
    }
}

impl<H: Handle> Iterator for Ready<'_, H> {
    type Item = H::Value;

    fn next(&mut self) -> Option<H::Value> {
        match self.0.poll() {
            Polled::Done(value) => Some(value),
            Polled::WouldWait | Polled::Closed => None,
        }
    }
}

impl<'a, H: Handle> IntoIterator for &'a Consumer<H> {
    type Item = H::Value;
    type IntoIter = Values<&'a Consumer<H>>;

    fn into_iter(self) -> Self::IntoIter {
        Values(self)
    }
}

impl<H: Handle> IntoIterator for Consumer<H> {
    type Item = H::Value;
    type IntoIter = Values<Consumer<H>>;

    fn into_iter(self) -> Self::IntoIter {
        Values(self)
    }
}
