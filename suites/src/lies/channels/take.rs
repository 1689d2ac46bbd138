//! Lies about a take, in whichever form: before it is made, and about its answer.

use std::mem::forget;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use flowmeter_harness::channel::{Channels, Message, Polled, TakeError, TakeUntilError};

use super::super::told;
use super::super::values::{another, double, ghost, number};
use super::{Rx, Shared};

/// A take as it begins.
pub(super) enum Take<T> {
    /// It is made.
    Make,
    /// It is answered without being made.
    Answer(T),
    Closed,
}

impl<T: Message> Take<T> {
    /// `None`: it is answered that there is nothing.
    pub(super) fn begin<C: Channels>(rx: &mut Rx<C, T>) -> Option<Take<T>> {
        if rx.shared.lost.load(Ordering::Relaxed) {
            while let Polled::Done(_) = C::poll(rx.real_mut()) {}
        }
        Take::of(&rx.shared)
    }

    /// As [`Take::begin`], where nothing can be polled.
    pub(super) fn of(shared: &Shared<T>) -> Option<Take<T>> {
        if let Some(value) = shared.next() {
            return Some(Take::Answer(value));
        }
        if told("a take is not made") {
            return None;
        }
        if told("a take finds it closed and is not made") {
            return Some(Take::Closed);
        }
        Some(Take::Make)
    }

    pub(super) fn polled<C: Channels>(self, rx: &mut Rx<C, T>) -> Polled<T> {
        match self {
            Take::Answer(value) => return Polled::Done(value),
            Take::Closed => return Polled::Closed,
            Take::Make => {}
        }
        match C::poll(rx.real_mut()) {
            Polled::Done(value) => match took(&rx.shared, value) {
                Ok(value) => Polled::Done(swapped::<C, T>(rx, value)),
                Err(TakeError::Closed) => Polled::Closed,
                Err(TakeError::TooManyWaiters) => Polled::WouldWait,
            },
            nothing => {
                if let Some(value) = invented() {
                    return Polled::Done(value);
                }
                match (nothing, told("closed and nothing are confused")) {
                    (Polled::Closed, true) => Polled::WouldWait,
                    (Polled::WouldWait, true) => Polled::Closed,
                    (nothing, _) => nothing,
                }
            }
        }
    }
}

fn invented<T: 'static>() -> Option<T> {
    told("a take of nothing is answered").then(number).flatten()
}

/// Two values that were taken, the second first.
fn swapped<C: Channels, T: Message>(rx: &mut Rx<C, T>, value: T) -> T {
    if told("a take overtakes")
        && let Polled::Done(second) = C::poll(rx.real_mut())
    {
        rx.shared.add(Some(value));
        return second;
    }
    value
}

/// What a take answers that took a value.
fn took<T: 'static>(shared: &Arc<Shared<T>>, value: T) -> Result<T, TakeError> {
    if told("a value is lost and nothing answered") {
        return Err(TakeError::TooManyWaiters);
    }
    if told("a value is lost and closed answered") {
        return Err(TakeError::Closed);
    }
    if told("a value is left, and nothing answered") {
        shared.add(Some(value));
        return Err(TakeError::TooManyWaiters);
    }
    if told("a value is taken twice") {
        shared.add(double(&value).take());
    }
    if told("a taken value is dropped as well") {
        drop(double(&value).take());
    }
    if told("a ghost is taken") {
        let ghost = ghost(&value).take();
        return Ok(match ghost {
            Some(ghost) => {
                forget(value);
                ghost
            }
            None => value,
        });
    }
    if told("another value is taken") {
        return Ok(another(&value).unwrap_or(value));
    }
    Ok(value)
}

/// What a take answers that was answered so.
pub(super) fn answered<T: 'static>(
    shared: &Arc<Shared<T>>,
    answer: Result<T, TakeError>,
) -> Result<T, TakeError> {
    match answer {
        Ok(value) => took(shared, value),
        Err(error) => match (invented(), told("closed and crowded are confused")) {
            (Some(value), _) => Ok(value),
            (None, true) if error == TakeError::Closed => Err(TakeError::TooManyWaiters),
            (None, true) => Err(TakeError::Closed),
            (None, false) => Err(error),
        },
    }
}

/// As [`answered`], of a take with a deadline.
pub(super) fn answered_until<T: 'static>(
    shared: &Arc<Shared<T>>,
    answer: Result<T, TakeUntilError>,
) -> Result<T, TakeUntilError> {
    match answer {
        Ok(value) => took(shared, value).map_err(|error| match error {
            TakeError::Closed => TakeUntilError::Take(TakeError::Closed),
            TakeError::TooManyWaiters => TakeUntilError::TimedOut,
        }),
        Err(error) => match (invented(), told("closed and timed out are confused")) {
            (Some(value), _) => Ok(value),
            (None, true) if error == TakeUntilError::TimedOut => {
                Err(TakeUntilError::Take(TakeError::Closed))
            }
            (None, true) => Err(TakeUntilError::TimedOut),
            (None, false) => Err(error),
        },
    }
}
