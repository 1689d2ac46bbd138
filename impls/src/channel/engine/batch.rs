//! Many values under one lock (C15): those who are woken hear of it together.

use std::collections::VecDeque;

use flowmeter_harness::channel::{BatchError, Message, Offered, Polled, TakeError};

use super::ChannelOver;
use super::effects::Effects;
use super::store::Store;
use crate::channel::batch::Batches;

impl<T: Message, S: Store<T>> Batches for ChannelOver<T, S> {
    fn take_there(&self, limit: usize, values: &mut Vec<T>) -> Result<usize, TakeError> {
        let mut effects = Effects::new();
        let mut state = self.lock();
        let mut taken = 0;
        let mut end = Ok(());
        while taken < limit {
            match state.poll(&mut effects) {
                Polled::Done(value) => values.push(value),
                Polled::WouldWait => break,
                Polled::Closed => {
                    end = Err(TakeError::Closed);
                    break;
                }
            }
            taken += 1;
        }
        drop(state);
        effects.run();
        if taken > 0 {
            return Ok(taken);
        }
        end.map(|()| 0)
    }

    fn put_there(&self, values: &mut VecDeque<T>) -> Result<Option<T>, BatchError> {
        let mut effects = Effects::new();
        let mut state = self.lock();
        let mut answer = Ok(None);
        while let Some(value) = values.pop_front() {
            match state.offer(value, &mut effects) {
                Offered::Done => {}
                Offered::Closed(value) => {
                    values.push_front(value);
                    answer = Err(BatchError::Closed);
                    break;
                }
                Offered::WouldWait(value) => {
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
