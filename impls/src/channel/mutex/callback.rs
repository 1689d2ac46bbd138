//! Waiting puts and takes that answer a callback (C11).

use flowmeter_harness::channel::{Message, PutError, TakeError};

use super::hand::Hand;
use super::operation::{Notify, Operation};
use super::state::State;
use crate::channel::callback::Calls;
use crate::sync::Arc;

impl<T: Message> Calls for State<T> {
    fn put_later<F>(&mut self, value: T, then: F) -> Result<(), (T, F)>
    where
        F: FnOnce(Result<(), PutError<T>>) + Send + 'static,
    {
        // The callback is set below, because `then` is given back if the put may not wait.
        let operation = Operation::new(Notify::Nothing);
        let back = Arc::new(Hand::new());
        if let Err(value) = self.wait_to_put_or_have_back(&operation, value, &back) {
            return Err((value, then));
        }
        operation.tell(Notify::Call(Box::new(move || {
            then(match back.value() {
                Some(value) => Err(PutError::Closed(Some(value))),
                None => Ok(()),
            });
        })));
        Ok(())
    }

    fn take_later<F>(&mut self, then: F) -> Result<(), F>
    where
        F: FnOnce(Result<T, TakeError>) + Send + 'static,
    {
        let operation = Operation::new(Notify::Nothing);
        let hand = Arc::new(Hand::new());
        if !self.wait_to_take(&operation, 0, &hand) {
            return Err(then);
        }
        operation.tell(Notify::Call(Box::new(move || {
            then(hand.value().ok_or(TakeError::Closed));
        })));
        Ok(())
    }
}
