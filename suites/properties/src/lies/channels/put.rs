//! Faults injected into a put of any form: before it is made, and into its answer. In every form, a put that would
//! wait may be answered that too many wait.

use std::mem::forget;
use std::sync::Arc;

use flowmeter_harness::channel::PutError::{self, Closed, TooManyWaiters};

use super::super::told;
use super::super::values::{Spare, another, double, ghost};
use super::Shared;
use crate::design::Parcel;
use crate::design::channels::operations::Put;

/// The faults that remain possible once a put is made.
pub(super) struct Aftermath {
    shared: Arc<Shared>,
    after: After,
}

/// The wrong answer to give if the put is accepted.
enum After {
    Truth,
    Twice(Spare),
    StaysWithItsSender(Spare),
}

/// The answer of a put that is made that way.
pub(super) fn answered(
    shared: &Arc<Shared>,
    value: Parcel,
    make: impl FnOnce(Parcel) -> Put,
) -> Put {
    let (begun, aftermath) = begun(shared, value);
    match begun {
        Ok(value) => aftermath.answer(make(value)),
        Err(answer) => answer,
    }
}

/// The value to put, or the answer without putting it; and the faults that remain possible.
pub(super) fn begun(shared: &Arc<Shared>, value: Parcel) -> (Result<Parcel, Put>, Aftermath) {
    let after = if told("a put is made twice") {
        After::Twice(double(&value))
    } else if told("a value is accepted and given back") {
        After::StaysWithItsSender(ghost(&value))
    } else {
        After::Truth
    };
    let begun = if told("a put is refused and not made") {
        Err(Err(TooManyWaiters(value)))
    } else if told("a put finds it closed and is not made") {
        Err(Err(Closed(Some(value))))
    } else if told("a put is accepted and its value dropped") {
        drop(value);
        Err(Ok(()))
    } else if told("a put is accepted and its value forgotten") {
        forget(value);
        Err(Ok(()))
    } else if told("a put overtakes") {
        shared.add(Some(value));
        Err(Ok(()))
    } else if told("another value is put") {
        Ok(another(value))
    } else {
        Ok(value)
    };
    let shared = Arc::clone(shared);
    (begun, Aftermath { shared, after })
}

impl Aftermath {
    /// The answer in place of that real answer.
    pub(super) fn answer(self, made: Put) -> Put {
        match (made, self.after) {
            (Ok(()), After::Truth) => Ok(()),
            (Ok(()), After::Twice(spare)) => {
                self.shared.add(spare.take());
                Ok(())
            }
            (Ok(()), After::StaysWithItsSender(spare)) => spare
                .take()
                .map_or(Ok(()), |value| Err(TooManyWaiters(value))),
            (Err(_), _) if told("a put is answered true for false") => Ok(()),
            (Err(refusal), _) => Err(other(refusal)),
        }
    }
}

fn other(refusal: PutError<Parcel>) -> PutError<Parcel> {
    if told("a put is refused for another reason") {
        return match refusal {
            Closed(Some(value)) => TooManyWaiters(value),
            TooManyWaiters(value) => Closed(Some(value)),
            Closed(None) => refusal,
        };
    }
    if told("a refused value does not come back") {
        return Closed(None);
    }
    if told("a refused value comes back as another") {
        return match refusal {
            Closed(value) => Closed(value.map(another)),
            TooManyWaiters(value) => TooManyWaiters(another(value)),
        };
    }
    refusal
}
