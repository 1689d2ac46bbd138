//! Puts and takes that answer a callback (C11).

use flowmeter_harness::channel::{Message, Offered, Polled, PutError, TakeError};

use super::super::trampoline;
use super::ChannelOver;
use super::effects::Effects;
use super::line::Party;
use super::state::{Handed, Put, Taken};
use super::store::{Front, Quick, Store};
use crate::channel::callback::Callbacks;

impl<T: Message, S: Store<T>> Callbacks for ChannelOver<T, S> {
    fn put_then(&self, value: T, then: impl FnOnce(Result<(), PutError<T>>) + Send + 'static) {
        let value = match self.front.offer::<false>(value) {
            Quick::Done(()) => return trampoline::run(Box::new(move || then(Ok(())))),
            Quick::Unable(value) | Quick::Ask(value) => value,
        };
        let mut effects = Effects::new();
        let mut state = self.lock();
        let answer = match state.offer(value, &mut effects) {
            Offered::Done => Ok(()),
            Offered::Closed(value) => Err(PutError::Closed(Some(value))),
            Offered::WouldWait(value) if state.puts.is_full() => {
                Err(PutError::TooManyWaiters(value))
            }
            Offered::WouldWait(value) => {
                let call = Party::Callback(Box::new(move |put: Put<T>| {
                    then(put.map_err(PutError::Closed));
                }));
                state.puts.join(call, Some(value));
                return;
            }
        };
        drop(state);
        effects.run();
        trampoline::run(Box::new(move || then(answer)));
    }

    fn take_then(&self, then: impl FnOnce(Result<T, TakeError>) + Send + 'static) {
        if let Quick::Done(value) = self.front.poll::<false>() {
            return trampoline::run(Box::new(move || then(Ok(value))));
        }
        let mut effects = Effects::new();
        let mut state = self.lock();
        let answer = match state.poll(&mut effects) {
            Polled::Done(value) => Ok(value),
            Polled::Closed => Err(TakeError::Closed),
            Polled::WouldWait if state.takes.is_full() => Err(TakeError::TooManyWaiters),
            Polled::WouldWait => {
                let call = Party::Callback(Box::new(move |taken: Taken<T>| {
                    then(
                        taken
                            .map(|Handed { value, .. }| value)
                            .ok_or(TakeError::Closed),
                    );
                }));
                state.takes.join(call, ());
                return;
            }
        };
        drop(state);
        effects.run();
        trampoline::run(Box::new(move || then(answer)));
    }
}
