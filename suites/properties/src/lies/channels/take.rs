//! Faults injected into a take of any form: before it is made, and into its answer. In every form, a take that would
//! wait may be answered that too many wait.

use std::mem::forget;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use flowmeter_harness::channel::{Polled, TakeError};

use super::super::told;
use super::super::values::{another, double, ghost};
use super::{Shared, parts};
use crate::design::Parcel;
use crate::design::channels::operations::{Base, Half, Taken};

/// The answer of a take that is made that way, which may overtake the next one. `confused` names the fault in a
/// refusal.
pub(super) fn overtaking(
    base: &dyn Base,
    rx: &mut Half,
    confused: &'static str,
    make: impl FnOnce(&mut Half) -> Taken,
) -> Taken {
    let (value, is_made) = answered(base, rx, confused, make)?;
    let (real, shared) = parts(rx);
    if is_made
        && told("a take overtakes")
        && let Polled::Done(second) = base.poll(real)
    {
        shared.add(Some(value));
        return Ok(second);
    }
    Ok(value)
}

/// As [`overtaking`], in its turn; also returns whether it was made.
pub(super) fn answered(
    base: &dyn Base,
    rx: &mut Half,
    confused: &'static str,
    make: impl FnOnce(&mut Half) -> Taken,
) -> Result<(Parcel, bool), TakeError> {
    let (real, shared) = parts(rx);
    if shared.lost.load(Ordering::Relaxed) {
        while let Polled::Done(_) = base.poll(real) {}
    }
    match unmade(shared) {
        Some(answer) => Ok((answer?, false)),
        None => Ok((made(shared, confused, make(real))?, true)),
    }
}

/// The answer of a take that is not made; `None` where it has to be made.
pub(super) fn unmade(shared: &Shared) -> Option<Taken> {
    if let Some(value) = shared.next() {
        return Some(Ok(value));
    }
    if told("a take is not made") {
        return Some(Err(TakeError::TooManyWaiters));
    }
    told("a take finds it closed and is not made").then_some(Err(TakeError::Closed))
}

/// The answer of a take in place of that real answer.
pub(super) fn made(shared: &Arc<Shared>, confused: &'static str, answer: Taken) -> Taken {
    match answer {
        Ok(value) => took(shared, value),
        Err(error) => {
            let invented = told("a take of nothing is answered").then(|| shared.number());
            match (invented.flatten(), told(confused)) {
                (Some(value), _) => Ok(value),
                (None, true) if error == TakeError::Closed => Err(TakeError::TooManyWaiters),
                (None, true) => Err(TakeError::Closed),
                (None, false) => Err(error),
            }
        }
    }
}

/// The answer of a take that took a value.
fn took(shared: &Arc<Shared>, value: Parcel) -> Taken {
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
    if told("a ghost is taken")
        && let Some(ghost) = ghost(&value).take()
    {
        forget(value);
        return Ok(ghost);
    }
    if told("another value is taken") {
        return Ok(another(value));
    }
    Ok(value)
}
