//! A taker's hand: where whoever commits a take that waits leaves the value.
//!
//! It is apart from the request so that this one needs to know no message type: an alts that waits in
//! channels of several types is one request with a hand for each type.

use crate::sync::Mutex;

/// A value that was handed over, and its place among all that its channel handed to takes that wait, in
/// the order of their puts: where it belongs when it is given back (C9).
pub(super) struct Handed<T> {
    pub(super) value: T,
    pub(super) place: u64,
}

/// Holds at most one value. It is filled under the flag of the request that it belongs to, while that one
/// is committed, and emptied by the request's own thread or future afterwards.
pub(super) struct Hand<T>(Mutex<Option<Handed<T>>>);

impl<T: 'static> Hand<T> {
    pub(super) fn new() -> Self {
        Hand(Mutex::new(None))
    }

    pub(super) fn give(&self, handed: Handed<T>) {
        *self.0.lock() = Some(handed);
    }

    /// What was handed over; nothing when the take was committed by a close.
    pub(super) fn fetch(&self) -> Option<Handed<T>> {
        self.0.lock().take()
    }

    /// [`Hand::fetch`] for those who keep the value.
    pub(super) fn value(&self) -> Option<T> {
        self.fetch().map(|handed| handed.value)
    }
}
