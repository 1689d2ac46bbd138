//! A taker's hand: the committing thread leaves the value of a waiting take in it.
//!
//! It is separate from the request, so that the request knows no message type. An alts that waits in channels of
//! several types is one request with a hand for each type.

use crate::sync::Mutex;

/// A value that was handed over. Its place is counted among all values that its channel handed to waiting takes, in the
/// order of their puts. It says where the value belongs when it is given back (C9).
pub(super) struct Handed<T> {
    pub(super) value: T,
    pub(super) place: u64,
}

/// Holds at most one value. It is filled under the flag of its request, while the request is committed. The request's
/// own thread or future empties it afterwards.
pub(super) struct Hand<T>(Mutex<Option<Handed<T>>>);

impl<T: 'static> Hand<T> {
    pub(super) fn new() -> Self {
        Hand(Mutex::new(None))
    }

    pub(super) fn give(&self, handed: Handed<T>) {
        *self.0.lock() = Some(handed);
    }

    /// The value that was handed over; `None` when a close committed the take.
    pub(super) fn fetch(&self) -> Option<Handed<T>> {
        self.0.lock().take()
    }

    /// [`Hand::fetch`] for a caller that keeps the value.
    pub(super) fn value(&self) -> Option<T> {
        self.fetch().map(|handed| handed.value)
    }
}
