//! Lies about a put, in whichever form: before it is made, and about its answer.

use std::mem::forget;
use std::sync::Arc;

use flowmeter_harness::channel::{Offered, PutError, PutUntilError};

use super::super::told;
use super::super::values::{Spare, another, double, ghost};
use super::Shared;

/// A put as it begins.
pub(super) struct Put<T> {
    shared: Arc<Shared<T>>,
    turn: Turn<T>,
    /// What is answered wrongly, if it is accepted.
    after: After<T>,
}

/// The value to put, or the answer without that.
type Begun<T, E> = Result<T, Result<(), E>>;

enum Turn<T> {
    Make(T),
    Accepted,
    Refused(T),
    Closed(T),
}

enum After<T> {
    Truth,
    Twice(Spare<T>),
    StaysWithItsSender(Spare<T>),
}

/// What a put that was not accepted is answered.
enum Refusal<T> {
    WouldWait(T),
    Closed(Option<T>),
}

impl<T: 'static> Put<T> {
    pub(super) fn begin(shared: &Arc<Shared<T>>, value: T) -> Put<T> {
        let after = if told("a put is made twice") {
            After::Twice(double(&value))
        } else if told("a value is accepted and given back") {
            After::StaysWithItsSender(ghost(&value))
        } else {
            After::Truth
        };
        let turn = if told("a put is refused and not made") {
            Turn::Refused(value)
        } else if told("a put finds it closed and is not made") {
            Turn::Closed(value)
        } else if told("a put is accepted and its value dropped") {
            drop(value);
            Turn::Accepted
        } else if told("a put is accepted and its value forgotten") {
            forget(value);
            Turn::Accepted
        } else if told("a put overtakes") {
            shared.add(Some(value));
            Turn::Accepted
        } else if told("another value is put") {
            Turn::Make(another(&value).unwrap_or(value))
        } else {
            Turn::Make(value)
        };
        Put {
            shared: Arc::clone(shared),
            turn,
            after,
        }
    }

    /// The value to put, or the answer without that; and what remains to be lied about.
    pub(super) fn split(self) -> (Begun<T, PutError<T>>, Aftermath<T>) {
        let (turn, aftermath) = self.turns();
        let turn = turn.map_err(|answer| answer.map_err(PutError::from));
        (turn, aftermath)
    }

    fn turns(self) -> (Begun<T, Refusal<T>>, Aftermath<T>) {
        let turn = match self.turn {
            Turn::Make(value) => Ok(value),
            Turn::Accepted => Err(Ok(())),
            Turn::Refused(value) => Err(Err(Refusal::WouldWait(value))),
            Turn::Closed(value) => Err(Err(Refusal::Closed(Some(value)))),
        };
        let aftermath = Aftermath {
            shared: self.shared,
            after: self.after,
        };
        (turn, aftermath)
    }

    /// The answer: of `make` where it is made, and with a lie about it.
    fn answer(self, make: impl FnOnce(T) -> Result<(), Refusal<T>>) -> Result<(), Refusal<T>> {
        let (turn, aftermath) = self.turns();
        match turn {
            Ok(value) => aftermath.told_of(make(value)),
            Err(answer) => answer,
        }
    }

    pub(super) fn offered(self, make: impl FnOnce(T) -> Offered<T>) -> Offered<T> {
        let answer = self.answer(|value| match make(value) {
            Offered::Done => Ok(()),
            Offered::WouldWait(value) => Err(Refusal::WouldWait(value)),
            Offered::Closed(value) => Err(Refusal::Closed(Some(value))),
        });
        match answer {
            Ok(()) => Offered::Done,
            Err(Refusal::WouldWait(value)) => Offered::WouldWait(value),
            Err(Refusal::Closed(Some(value))) => Offered::Closed(value),
            // An offer has no answer that swallows its value.
            Err(Refusal::Closed(None)) => Offered::Done,
        }
    }

    pub(super) fn put(
        self,
        make: impl FnOnce(T) -> Result<(), PutError<T>>,
    ) -> Result<(), PutError<T>> {
        self.answer(|value| make(value).map_err(Refusal::from))
            .map_err(PutError::from)
    }

    pub(super) fn put_until(
        self,
        make: impl FnOnce(T) -> Result<(), PutUntilError<T>>,
    ) -> Result<(), PutUntilError<T>> {
        let mut crowded = false;
        let answer = self.answer(|value| {
            make(value).map_err(|error| match error {
                PutUntilError::TimedOut(value) => Refusal::WouldWait(value),
                PutUntilError::Put(error) => {
                    crowded = matches!(error, PutError::TooManyWaiters(_));
                    Refusal::from(error)
                }
            })
        });
        answer.map_err(|refusal| match refusal {
            Refusal::WouldWait(value) if !crowded => PutUntilError::TimedOut(value),
            refusal => PutUntilError::Put(PutError::from(refusal)),
        })
    }
}

/// A put that is being made.
pub(super) struct Aftermath<T> {
    shared: Arc<Shared<T>>,
    after: After<T>,
}

impl<T: 'static> Aftermath<T> {
    /// What is answered where the put was answered so.
    pub(super) fn answer(self, made: Result<(), PutError<T>>) -> Result<(), PutError<T>> {
        self.told_of(made.map_err(Refusal::from))
            .map_err(PutError::from)
    }

    fn told_of(self, made: Result<(), Refusal<T>>) -> Result<(), Refusal<T>> {
        match (made, self.after) {
            (Ok(()), After::Truth) => Ok(()),
            (Ok(()), After::Twice(spare)) => {
                self.shared.add(spare.take());
                Ok(())
            }
            (Ok(()), After::StaysWithItsSender(spare)) => spare
                .take()
                .map_or(Ok(()), |value| Err(Refusal::WouldWait(value))),
            (Err(_), _) if told("a put is answered true for false") => Ok(()),
            (Err(refusal), _) => Err(refusal.or_another()),
        }
    }
}

impl<T: 'static> Refusal<T> {
    fn or_another(self) -> Refusal<T> {
        if told("a put is refused for another reason") {
            return match self {
                Refusal::Closed(Some(value)) => Refusal::WouldWait(value),
                Refusal::WouldWait(value) => Refusal::Closed(Some(value)),
                Refusal::Closed(None) => self,
            };
        }
        if told("a refused value does not come back") {
            return Refusal::Closed(None);
        }
        if told("a refused value comes back as another") {
            return match self {
                Refusal::Closed(Some(value)) => Refusal::Closed(another(&value).or(Some(value))),
                Refusal::WouldWait(value) => Refusal::WouldWait(another(&value).unwrap_or(value)),
                Refusal::Closed(None) => self,
            };
        }
        self
    }
}

impl<T> From<PutError<T>> for Refusal<T> {
    fn from(error: PutError<T>) -> Self {
        match error {
            PutError::Closed(value) => Refusal::Closed(value),
            PutError::TooManyWaiters(value) => Refusal::WouldWait(value),
        }
    }
}

impl<T> From<Refusal<T>> for PutError<T> {
    fn from(refusal: Refusal<T>) -> Self {
        match refusal {
            Refusal::Closed(value) => PutError::Closed(value),
            Refusal::WouldWait(value) => PutError::TooManyWaiters(value),
        }
    }
}
