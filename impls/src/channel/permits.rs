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

/// A design that can hold room for permits. A permit takes up room as a stored value does. A request that waits for a
/// permit stands in line with the puts, and is served in turn.
pub trait Room: Design {
    /// A waiting task.
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

    /// Blocks the thread until room is held.
    ///
    /// # Errors
    /// [`ReserveError`].
    fn wait_for_room(state: Self::Guard<'_>) -> Result<(), ReserveError>;

    /// Holds room, or registers the task to wait for it.
    fn reserve_or_wake(
        channel: &Handle<Self>,
        waiting: &mut Option<Self::Waiting>,
        waker: &Waker,
    ) -> Poll<Result<(), ReserveError>>;

    /// The answer to a waiting task. If there is none yet, `waker` is woken once there is.
    fn answer_or_wake(waiting: &Self::Waiting, waker: &Waker) -> Poll<Result<(), ReserveError>>;

    /// Removes a waiting task. If it was served meanwhile, its room is given back.
    fn stop_waiting(channel: &Handle<Self>, waiting: Self::Waiting);
}

/// Room for one value. Dropping it gives the room back.
#[must_use = "dropping a permit gives its room back"]
pub struct Permit<'a, D: Room> {
    pub(super) channel: &'a Handle<D>,
}

impl<D: Room> Permit<'_, D> {
    /// Puts a value into the room that is held. Never waits.
    ///
    /// # Errors
    /// The value, when the channel has been closed since.
    pub fn fill(self, value: D::Value) -> Result<(), D::Value> {
        let channel = self.channel;
        // Its room is used, or is not needed any more.
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
    /// [`ReserveError`]. [`ReserveError::NothingToReserve`] for all buffers but fixed and unbounded ones, and for a
    /// channel with a transform.
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

    /// [`Handle::reserve`] as a future. A dropped one holds no room.
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

// The waiting task is never pinned.
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
