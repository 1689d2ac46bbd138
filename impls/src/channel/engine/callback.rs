//! Waiting puts and takes that answer a callback (C11).

use flowmeter_harness::channel::{Message, PutError, TakeError};

use super::line::Party;
use super::state::{Handed, Put, State, Taken};
use super::store::Store;
use crate::channel::callback::Calls;
use crate::channel::trampoline::Call;

impl<T: Message, S: Store<T> + 'static> Calls for State<T, S> {
    fn put_later<F>(&mut self, value: T, then: F) -> Result<(), (T, F)>
    where
        F: FnOnce(Result<(), PutError<T>>) + Send + 'static,
    {
        if self.puts.is_full() {
            return Err((value, then));
        }
        let answer =
            move |put: Put<T>| -> Call { Box::new(move || then(put.map_err(PutError::Closed))) };
        self.puts
            .join_other(Party::Callback(Box::new(answer)), Some(value));
        Ok(())
    }

    fn take_later<F>(&mut self, then: F) -> Result<(), F>
    where
        F: FnOnce(Result<T, TakeError>) + Send + 'static,
    {
        if self.takes.is_full() {
            return Err(then);
        }
        let answer = move |taken: Taken<T>| -> Call {
            Box::new(move || {
                let value = taken.map(|Handed { value, .. }| value);
                then(value.ok_or(TakeError::Closed));
            })
        };
        self.takes.join_other(Party::Callback(Box::new(answer)), ());
        Ok(())
    }
}
