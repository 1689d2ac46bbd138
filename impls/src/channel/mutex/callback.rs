//! Puts and takes that answer a callback (C11).

use flowmeter_harness::channel::{Message, PutError, TakeError};

use super::effects::Effects;
use super::hand::Hand;
use super::operation::{Notify, Operation};
use super::state::Attempt;
use super::{Channel, trampoline};
use crate::channel::callback::Callbacks;
use crate::sync::Arc;

impl<T: Message> Callbacks for Channel<T> {
    fn put_then(&self, value: T, then: impl FnOnce(Result<(), PutError<T>>) + Send + 'static) {
        let mut effects = Effects::new();
        let mut state = self.0.lock();
        let answer = match state.put_now(value, None, &mut effects) {
            Attempt::Done(Ok(())) => Ok(()),
            Attempt::Done(Err(value)) => Err(PutError::Closed(Some(value))),
            Attempt::NotAble(value) | Attempt::Lost(value) => {
                // What an answered callback is told cannot be known before; a refused one is told here.
                let operation = Operation::new(Notify::Nobody);
                let back = Arc::new(Hand::new());
                match state.wait_to_put_or_have_back(&operation, value, &back) {
                    Ok(()) => {
                        operation.tell(Notify::Call(Box::new(move || {
                            then(match back.value() {
                                Some(value) => Err(PutError::Closed(Some(value))),
                                None => Ok(()),
                            });
                        })));
                        return;
                    }
                    Err(value) => Err(PutError::TooManyWaiters(value)),
                }
            }
        };
        drop(state);
        effects.run();
        trampoline::run(Box::new(move || then(answer)));
    }

    fn take_then(&self, then: impl FnOnce(Result<T, TakeError>) + Send + 'static) {
        let mut effects = Effects::new();
        let mut state = self.0.lock();
        let answer = match state.take_now(None, &mut effects) {
            Attempt::Done(value) => value.ok_or(TakeError::Closed),
            Attempt::NotAble(()) | Attempt::Lost(()) => {
                let operation = Operation::new(Notify::Nobody);
                let hand = Arc::new(Hand::new());
                if state.wait_to_take(&operation, 0, &hand) {
                    operation.tell(Notify::Call(Box::new(move || {
                        then(hand.value().ok_or(TakeError::Closed));
                    })));
                    return;
                }
                Err(TakeError::TooManyWaiters)
            }
        };
        drop(state);
        effects.run();
        trampoline::run(Box::new(move || then(answer)));
    }
}
