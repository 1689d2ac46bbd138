//! Room that is held before there is a value for it (C15).

use std::future::Future;

use flowmeter_harness::channel::ReserveError;

use super::halves::{Handle, Producer};

/// A handle that holds room.
pub trait Permits: Handle {
    /// Room for one value. Dropping it gives the room back.
    type Permit<'a>: Send
    where
        Self: 'a;

    /// Holds room for one value without waiting.
    ///
    /// # Errors
    /// [`ReserveError`]; [`ReserveError::NothingToReserve`] for all but fixed and unbounded buffers, and where there is a
    /// transform.
    fn try_reserve(&self) -> Result<Self::Permit<'_>, ReserveError>;

    /// [`Permits::try_reserve`], waiting for room in line with the puts.
    ///
    /// # Errors
    /// [`ReserveError`].
    fn reserve(&self) -> Result<Self::Permit<'_>, ReserveError>;

    /// [`Permits::reserve`] as a future; one that is dropped holds nothing.
    fn reserve_async(&self) -> impl Future<Output = Result<Self::Permit<'_>, ReserveError>> + Send;

    /// Puts into the room that is held; never waits.
    ///
    /// # Errors
    /// The value, when the channel has been closed since.
    fn fill(permit: Self::Permit<'_>, value: Self::Value) -> Result<(), Self::Value>;
}

impl<H: Permits> Producer<H> {
    /// As [`Permits::try_reserve`].
    ///
    /// # Errors
    /// [`ReserveError`].
    pub fn try_reserve(&self) -> Result<H::Permit<'_>, ReserveError> {
        self.handle().try_reserve()
    }

    /// As [`Permits::reserve`].
    ///
    /// # Errors
    /// [`ReserveError`].
    pub fn reserve(&self) -> Result<H::Permit<'_>, ReserveError> {
        self.handle().reserve()
    }

    /// As [`Permits::reserve_async`].
    pub fn reserve_async(
        &self,
    ) -> impl Future<Output = Result<H::Permit<'_>, ReserveError>> + Send {
        self.handle().reserve_async()
    }
}
