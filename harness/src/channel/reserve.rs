//! Permits: room in the buffer that a producer holds before it has a value (C15).

use std::future::Future;

use super::{Async, Blocking, Channels, Message};

/// Why there is no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReserveError {
    /// There is no room now. A reservation that waits never answers this.
    WouldWait,
    /// The channel is closed, or was closed while the reservation waited.
    Closed,
    /// The limit of waiting puts and reservations is reached.
    TooManyWaiters,
    /// This channel has no room that could be reserved. A rendezvous has no buffer, a dropping or sliding buffer and a
    /// promise never run out of room, and the output of a transform may need any number of places.
    NothingToReserve,
}

/// Producers can reserve room.
///
/// A permit reserves room for one value; for all other producers the buffer is smaller by one. It is filled without
/// waiting ([`Reserve::fill`]) or dropped, which gives the room to a waiting put. Values are ordered by their puts, not
/// by their permits.
///
/// A design decides what a close does to outstanding permits. Either filling one fails and gives the value back, or the
/// value can still be taken, and consumers see the end only after the last permit is gone. An accepted value is never
/// lost.
pub trait Reserve: Channels {
    /// Room for one value. Dropping it gives the room back.
    type Permit<'a, T: Message>: Send;

    /// Reserves room without waiting.
    ///
    /// # Errors
    /// [`ReserveError`].
    fn try_reserve<T: Message>(tx: &Self::Tx<T>) -> Result<Self::Permit<'_, T>, ReserveError>;

    /// Puts into the reserved room; never waits.
    ///
    /// # Errors
    /// The value, if the channel was closed in the meantime.
    fn fill<T: Message>(permit: Self::Permit<'_, T>, value: T) -> Result<(), T>;
}

/// Reservations that block their thread while they wait, in one queue with the puts.
pub trait BlockingReserve: Reserve + Blocking {
    /// [`Reserve::try_reserve`], waiting for room.
    ///
    /// # Errors
    /// [`ReserveError`].
    fn reserve<T: Message>(tx: &Self::Tx<T>) -> Result<Self::Permit<'_, T>, ReserveError>;
}

/// Reservations that are futures. A pending one that is dropped holds nothing.
pub trait AsyncReserve: Reserve + Async {
    /// [`BlockingReserve::reserve`] as a future.
    fn reserve_async<T: Message>(
        tx: &Self::Tx<T>,
    ) -> impl Future<Output = Result<Self::Permit<'_, T>, ReserveError>> + Send;
}
