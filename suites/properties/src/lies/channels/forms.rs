//! The forms of puts and takes: by thread, by future, by callback, until a deadline.

use std::future::pending;
use std::sync::Arc;

use flowmeter_harness::channel::{PutError, PutUntilError, TakeError, TakeUntilError};
use flowmeter_harness::sync::Deadline;

use super::super::deadlines::other;
use super::super::future::{awaited, hasty};
use super::super::told;
use super::super::values::{Spare, double, ghost};
use super::{HAD, Lying, Shared, of, parts, put, take};
use crate::design::Parcel;
use crate::design::channels::operations::{
    Awaits, Blocks, CallsBack, Half, Pending, Put, PutUntil, PutsUntil, Taken, TakenUntil,
    TakesUntil, Then,
};

/// The fault that confuses the refusals of a take that may wait.
const CROWDED: &str = "closed and crowded are confused";

impl Blocks for Lying {
    fn put(&self, tx: &mut Half, value: Parcel) -> Put {
        let (real, shared) = parts(tx);
        let table = self.0.blocks.expect(HAD);
        put::answered(shared, value, |value| table.put(real, value))
    }

    fn take(&self, rx: &mut Half) -> Taken {
        let table = self.0.blocks.expect(HAD);
        take::overtaking(self.0.base, rx, CROWDED, |real| table.take(real))
    }
}

impl PutsUntil for Lying {
    fn put(&self, tx: &mut Half, value: Parcel, deadline: Deadline) -> PutUntil {
        let (real, shared) = parts(tx);
        let deadline = other(deadline);
        let table = self.0.puts_until.expect(HAD);
        let mut crowded = false;
        let put = put::answered(shared, value, |value| {
            table
                .put(real, value, deadline)
                .map_err(|error| match error {
                    PutUntilError::TimedOut(value) => PutError::TooManyWaiters(value),
                    PutUntilError::Put(error) => {
                        crowded = matches!(error, PutError::TooManyWaiters(_));
                        error
                    }
                })
        });
        put.map_err(|error| match error {
            PutError::TooManyWaiters(value) if !crowded => PutUntilError::TimedOut(value),
            error => PutUntilError::Put(error),
        })
    }
}

impl TakesUntil for Lying {
    fn take(&self, rx: &mut Half, deadline: Deadline) -> TakenUntil {
        let table = self.0.takes_until.expect(HAD);
        let mut crowded = false;
        let confused = "closed and timed out are confused";
        let taken = take::answered(self.0.base, rx, confused, |real| {
            let taken = table.take(real, other(deadline));
            taken.map_err(|error| match error {
                TakeUntilError::TimedOut => TakeError::TooManyWaiters,
                TakeUntilError::Take(error) => {
                    crowded = error == TakeError::TooManyWaiters;
                    error
                }
            })
        });
        match taken {
            Ok((value, _)) => Ok(value),
            Err(TakeError::TooManyWaiters) if !crowded => Err(TakeUntilError::TimedOut),
            Err(error) => Err(TakeUntilError::Take(error)),
        }
    }
}

impl Awaits for Lying {
    fn put<'a>(&self, tx: &'a mut Half, value: Parcel) -> Pending<'a, Put> {
        let table = self.0.awaits.expect(HAD);
        let (real, shared) = parts(tx);
        let lands = if told("a dropped put is delivered") {
            Some(double(&value))
        } else if told("a dropped put is delivered in its own stead") {
            // Only its arrival is wrong: the value is not there twice.
            Some(ghost(&value))
        } else {
            None
        };
        let mut cancelled = Cancelled {
            shared: Arc::clone(shared),
            lands,
        };
        let put = async move {
            let (begun, aftermath) = put::begun(shared, value);
            let answer = match begun {
                Ok(value) => aftermath.answer(awaited(table.put(real, value)).await),
                Err(answer) => answer,
            };
            cancelled.is_answered();
            answer
        };
        let unmade = "a put is answered before its time";
        let early = [unmade, "a put that waits is answered"];
        Box::pin(hasty(put, early, || Ok(())))
    }

    fn take<'a>(&self, rx: &'a mut Half) -> Pending<'a, Taken> {
        let table = self.0.awaits.expect(HAD);
        let take = async move {
            if told("a take never looks") {
                return pending().await;
            }
            let (real, shared) = parts(rx);
            match take::unmade(shared) {
                Some(answer) => answer,
                None => take::made(shared, CROWDED, awaited(table.take(real)).await),
            }
        };
        let unmade = "a take is answered before its time";
        let early = [unmade, "a take that waits is answered"];
        Box::pin(hasty(take, early, || Err(TakeError::Closed)))
    }
}

/// A put that is dropped while it waits.
struct Cancelled {
    shared: Arc<Shared>,
    lands: Option<Spare>,
}

impl Cancelled {
    fn is_answered(&mut self) {
        self.lands = None;
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        self.shared.add(self.lands.take().and_then(Spare::take));
    }
}

impl CallsBack for Lying {
    fn put(&self, tx: &Half, value: Parcel, then: Then<Put>) {
        let tx = of(tx);
        let then = unless_forgotten(then);
        let (begun, aftermath) = put::begun(&tx.shared, value);
        match begun {
            Ok(value) => {
                let then = Box::new(move |made| then(aftermath.answer(made)));
                self.0.calls_back.expect(HAD).put(tx.real(), value, then);
            }
            Err(answer) => then(answer),
        }
    }

    fn take(&self, rx: &Half, then: Then<Taken>) {
        let rx = of(rx);
        let then = unless_forgotten(then);
        if let Some(answer) = take::unmade(&rx.shared) {
            return then(answer);
        }
        let shared = Arc::clone(&rx.shared);
        let then = Box::new(move |answer| then(take::made(&shared, CROWDED, answer)));
        self.0.calls_back.expect(HAD).take(rx.real(), then);
    }
}

/// The callback, or none under a fault.
fn unless_forgotten<A: 'static>(then: Then<A>) -> Then<A> {
    let called = !told("a callback is not called");
    Box::new(move |answer| {
        if called {
            then(answer);
        }
    })
}
