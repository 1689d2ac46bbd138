//! Room that is held before there is a value for it (C15).

use std::future::Future;
use std::mem::forget;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::ReserveError;

use super::by_name::debug_by_name;
use super::design::{Deferred, Design};
use super::halves::Producer;
use super::handle::Handle;

/// A design of whose room some can be held. A permit takes room as a stored value does. Who waits for one stands in line
/// with the puts, and is served in turn.
pub trait Room: Design {
    /// A task that waits for room.
    type Waiting: Send;

    /// Holds room for one value.
    ///
    /// # Errors
    /// As [`Handle::try_reserve`].
    fn reserve(&mut self) -> Result<(), ReserveError>;

    /// Puts a value into the room of a permit.
    ///
    /// # Errors
    /// The value, when the channel has been closed since.
    fn fill(&mut self, value: Self::Value, effects: &mut Self::Effects) -> Result<(), Self::Value>;

    /// Gives the room of a permit back.
    fn release(&mut self, effects: &mut Self::Effects);

    /// Has a thread wait until room is held.
    ///
    /// # Errors
    /// [`ReserveError`].
    fn wait_for_room(state: Self::Guard<'_>) -> Result<(), ReserveError>;

    /// Holds room, or has a task wait for it.
    fn reserve_or_wake(
        channel: &Handle<Self>,
        waiting: &mut Option<Self::Waiting>,
        waker: &Waker,
    ) -> Poll<Result<(), ReserveError>>;

    /// What a task that waits is answered; `waker` is woken otherwise, once it is.
    fn answer_or_wake(waiting: &Self::Waiting, waker: &Waker) -> Poll<Result<(), ReserveError>>;

    /// Has a task wait no more. Where it was served meanwhile, the room is given back.
    fn stop_waiting(channel: &Handle<Self>, waiting: Self::Waiting);
}

/// Room for one value. Dropping it gives the room back.
#[must_use = "dropping a permit gives its room back"]
pub struct Permit<'a, D: Room> {
    pub(super) channel: &'a Handle<D>,
}

impl<D: Room> Permit<'_, D> {
    /// Puts into the room that is held; never waits.
    ///
    /// # Errors
    /// The value, when the channel has been closed since.
    pub fn fill(self, value: D::Value) -> Result<(), D::Value> {
        let channel = self.channel;
        // Its room is used, or of no use any more.
        forget(self);
        let mut effects = D::Effects::new();
        let filled = channel.lock().fill(value, &mut effects);
        effects.run();
        filled
    }
}

impl<D: Room> Drop for Permit<'_, D> {
    fn drop(&mut self) {
        let mut effects = D::Effects::new();
        self.channel.lock().release(&mut effects);
        effects.run();
    }
}

debug_by_name!([D: Room] Permit<'_, D>;);

impl<D: Room> Handle<D> {
    /// Holds room for one value without waiting.
    ///
    /// # Errors
    /// [`ReserveError`]; [`ReserveError::NothingToReserve`] for all but fixed and unbounded buffers, and where there is a
    /// transform.
    pub fn try_reserve(&self) -> Result<Permit<'_, D>, ReserveError> {
        self.lock().reserve()?;
        Ok(Permit { channel: self })
    }

    /// [`Handle::try_reserve`], waiting for room in line with the puts.
    ///
    /// # Errors
    /// [`ReserveError`].
    pub fn reserve(&self) -> Result<Permit<'_, D>, ReserveError> {
        let mut state = self.lock();
        match state.reserve() {
            Err(ReserveError::WouldWait) => D::wait_for_room(state)?,
            answer => answer?,
        }
        Ok(Permit { channel: self })
    }

    /// [`Handle::reserve`] as a future; one that is dropped holds nothing.
    pub fn reserve_async(
        &self,
    ) -> impl Future<Output = Result<Permit<'_, D>, ReserveError>> + Send {
        Reserving {
            channel: self,
            waiting: None,
        }
    }
}

/// A reservation that may have to wait.
struct Reserving<'a, D: Room> {
    channel: &'a Handle<D>,
    waiting: Option<D::Waiting>,
}

// What waits is never pinned.
impl<D: Room> Unpin for Reserving<'_, D> {}

impl<'a, D: Room> Future for Reserving<'a, D> {
    type Output = Result<Permit<'a, D>, ReserveError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Reserving { channel, waiting } = &mut *self;
        let channel = *channel;
        let reserved = match waiting {
            None => D::reserve_or_wake(channel, waiting, context.waker()),
            Some(waiting) => D::answer_or_wake(waiting, context.waker()),
        };
        if reserved.is_ready() {
            *waiting = None;
        }
        reserved.map_ok(|()| Permit { channel })
    }
}

impl<D: Room> Drop for Reserving<'_, D> {
    fn drop(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            D::stop_waiting(self.channel, waiting);
        }
    }
}

impl<D: Room> Producer<D> {
    /// As [`Handle::try_reserve`].
    ///
    /// # Errors
    /// [`ReserveError`].
    pub fn try_reserve(&self) -> Result<Permit<'_, D>, ReserveError> {
        self.handle().try_reserve()
    }

    /// As [`Handle::reserve`].
    ///
    /// # Errors
    /// [`ReserveError`].
    pub fn reserve(&self) -> Result<Permit<'_, D>, ReserveError> {
        self.handle().reserve()
    }

    /// As [`Handle::reserve_async`].
    pub fn reserve_async(
        &self,
    ) -> impl Future<Output = Result<Permit<'_, D>, ReserveError>> + Send {
        self.handle().reserve_async()
    }
}
