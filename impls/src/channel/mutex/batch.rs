//! Many values under one lock (C15): those who are woken hear of it together.

use std::collections::VecDeque;

use flowmeter_harness::channel::{BatchError, Message, TakeError};

use super::Channel;
use super::effects::Effects;
use super::state::Attempt;
use crate::channel::batch::Batches;

impl<T: Message> Batches for Channel<T> {
    fn take_there(&self, limit: usize, values: &mut Vec<T>) -> Result<usize, TakeError> {
        let mut effects = Effects::new();
        let mut state = self.0.lock();
        let mut taken = 0;
        let mut closed = false;
        while taken < limit {
            match state.take_now(None, &mut effects) {
                Attempt::Done(Some(value)) => values.push(value),
                Attempt::Done(None) => {
                    closed = true;
                    break;
                }
                Attempt::NotAble(()) | Attempt::Lost(()) => break,
            }
            taken += 1;
        }
        drop(state);
        effects.run();
        if closed && taken == 0 {
            return Err(TakeError::Closed);
        }
        Ok(taken)
    }

    fn put_there(&self, values: &mut VecDeque<T>) -> Result<Option<T>, BatchError> {
        let mut effects = Effects::new();
        let mut state = self.0.lock();
        let mut answer = Ok(None);
        while let Some(value) = values.pop_front() {
            match state.put_now(value, None, &mut effects) {
                Attempt::Done(Ok(())) => {}
                Attempt::Done(Err(value)) => {
                    values.push_front(value);
                    answer = Err(BatchError::Closed);
                    break;
                }
                Attempt::NotAble(value) | Attempt::Lost(value) => {
                    answer = Ok(Some(value));
                    break;
                }
            }
        }
        drop(state);
        effects.run();
        answer
    }
}
