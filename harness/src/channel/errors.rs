//! Display texts of the channel errors, so that `?` and `Box<dyn Error>` accept them. As in std, `Debug` does not show the
//! value in an error, and so asks nothing of its type.

use std::error::Error;
use std::fmt;

use super::{
    AltsError, BatchError, PutError, PutUntilError, ReserveError, TakeError, TakeUntilError,
};

const CLOSED: &str = "the channel is closed";
const TOO_MANY_PUTS: &str = "as many puts wait on the channel as it admits";
const TOO_MANY_TAKES: &str = "as many takes wait on the channel as it admits";

impl<T> fmt::Debug for PutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PutError::Closed(_) => "Closed(..)",
            PutError::TooManyWaiters(_) => "TooManyWaiters(..)",
        })
    }
}

impl<T> fmt::Debug for PutUntilError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PutUntilError::TimedOut(_) => f.write_str("TimedOut(..)"),
            PutUntilError::Put(error) => write!(f, "Put({error:?})"),
        }
    }
}

impl<T> fmt::Display for PutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PutError::Closed(_) => CLOSED,
            PutError::TooManyWaiters(_) => TOO_MANY_PUTS,
        })
    }
}

impl fmt::Display for TakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TakeError::Closed => "the channel is closed and empty",
            TakeError::TooManyWaiters => TOO_MANY_TAKES,
        })
    }
}

impl<T> fmt::Display for PutUntilError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PutUntilError::TimedOut(_) => f.write_str("the deadline passed before there was room"),
            PutUntilError::Put(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for TakeUntilError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TakeUntilError::TimedOut => f.write_str("the deadline passed before there was a value"),
            TakeUntilError::Take(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BatchError::Closed => CLOSED,
            BatchError::TooManyWaiters => TOO_MANY_PUTS,
        })
    }
}

impl fmt::Display for ReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReserveError::WouldWait => "the channel has no room now",
            ReserveError::Closed => CLOSED,
            ReserveError::TooManyWaiters => TOO_MANY_PUTS,
            ReserveError::NothingToReserve => "the channel has no room that could be held",
        })
    }
}

impl fmt::Display for AltsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AltsError::NoClauses => f.write_str(
                "an alts has no clause and neither default nor deadline: it would wait for ever",
            ),
            AltsError::MissingValue { clause } => {
                write!(f, "clause {clause} of an alts is a put without a value")
            }
            AltsError::SlotCount { slots, clauses } => {
                write!(f, "an alts of {clauses} clauses was given {slots} slots")
            }
            AltsError::TooManyWaiters { clause } => write!(
                f,
                "as many wait on the channel of clause {clause} of an alts as it admits"
            ),
        }
    }
}

impl<T> Error for PutError<T> {}
impl Error for TakeError {}
impl<T> Error for PutUntilError<T> {}
impl Error for TakeUntilError {}
impl Error for BatchError {}
impl Error for ReserveError {}
impl Error for AltsError {}
