//! Permits: room that is held before there is a value for it (C15).

use std::future::Future;

use super::{Async, Blocking, Channels, Message};

/// Why there is no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReserveError {
    /// There is no room now. Never the answer to one that waits.
    WouldWait,
    /// The channel is closed, or was closed while this waited.
    Closed,
    /// As many puts and reservations wait already as the channel admits.
    TooManyWaiters,
    /// This channel has no room that could be held: a rendezvous has none, a dropping or sliding buffer and a promise
    /// never run out of it, and what a transform makes of a value may need any number of places.
    NothingToReserve,
}

/// A family whose producers can hold room.
///
/// A permit holds room for one value: for everybody else the buffer is smaller by one. It is filled without waiting
/// ([`Reserve::fill`]) or dropped, which gives the room back to a put that waits. The order among values is the order in
/// which they are put, not that of the permits.
///
/// What a close does to permits that are out is the design's own: either filling one answers so and gives the value
/// back, or the value can still be taken, and takers hear of the end after the last permit is gone. An accepted value
/// is never lost.
pub trait Reserve: Channels {
    /// Room for one value. Dropping it gives the room back.
    type Permit<'a, T: Message>: Send;

    /// Holds room without waiting.
    ///
    /// # Errors
    /// [`ReserveError`].
    fn try_reserve<T: Message>(tx: &Self::Tx<T>) -> Result<Self::Permit<'_, T>, ReserveError>;

    /// Puts into the room that is held; never waits.
    ///
    /// # Errors
    /// The value, where the channel was closed meanwhile.
    fn fill<T: Message>(permit: Self::Permit<'_, T>, value: T) -> Result<(), T>;
}

/// Reservations that hold up their thread while they wait, in line with the puts.
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
