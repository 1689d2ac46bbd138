//! Futures that wait for a channel to close, each with a seat behind the channel's lock.
//!
//! Puts and takes need the same lock, so finding a seat must stay cheap when many futures wait. Seats are a map by
//! number.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::by_name::debug_by_name;
use super::design::Design;
use super::halves::{Consumer, Producer};
use super::handle::Handle;

impl<D: Design> Handle<D> {
    /// Whether the channel was closed. If not, the waker waits for the close in a seat.
    fn watch(&self, seat: Option<u64>, waker: Waker) -> Watched {
        let mut state = self.shared.state.lock();
        match state.is_closed() {
            true => {
                drop(state);
                Watched::Closed
            }
            false => state.watchers().seat(seat, waker),
        }
    }

    /// Gives a seat up.
    fn unwatch(&self, seat: u64) -> Option<Waker> {
        self.shared.state.lock().watchers().leave(seat)
    }
}

/// The wakers that wait for the close, guarded by the channel's lock.
pub struct Watchers {
    /// Most channels have none, and an empty map is slow to drop.
    seats: Option<BTreeMap<u64, Waker>>,
    next: u64,
}

/// The answer to whether the channel has closed.
enum Watched {
    /// It has closed.
    Closed,
    /// It has not closed, and the waker has this seat. Drop the former waker outside every lock, because its drop is
    /// foreign code.
    Seated(u64, Option<Waker>),
}

impl Watchers {
    pub(super) const fn new() -> Self {
        Watchers {
            seats: None,
            next: 0,
        }
    }

    /// Takes a seat, or renews the waker in one.
    fn seat(&mut self, seat: Option<u64>, waker: Waker) -> Watched {
        let number = seat.unwrap_or_else(|| {
            self.next += 1;
            self.next
        });
        let seats = self.seats.get_or_insert_default();
        Watched::Seated(number, seats.insert(number, waker))
    }

    /// Gives a seat up. Drop its waker outside every lock.
    #[must_use = "its drop is foreign code"]
    fn leave(&mut self, seat: u64) -> Option<Waker> {
        self.seats.as_mut()?.remove(&seat)
    }

    /// All wakers, the longest seated first, if a seat was ever taken. Wake them outside every lock.
    pub(super) fn rise(&mut self) -> Option<impl Iterator<Item = Waker> + use<>> {
        self.seats.take().map(BTreeMap::into_values)
    }
}

/// Ready once its channel is closed, even if values are left in it. Dropping it leaves nothing behind.
#[must_use = "a future does nothing unless it is polled"]
pub struct Closed<D: Design> {
    handle: Handle<D>,
    seat: Option<u64>,
}

/// Either half can await the close.
macro_rules! awaits {
    ($($half:ident)*) => {$(
        impl<D: Design> $half<D> {
            /// Ready once the channel is closed: by a call, or because the last producer or consumer was dropped.
            pub fn closed(&self) -> Closed<D> {
                Closed {
                    handle: self.handle().clone(),
                    seat: None,
                }
            }
        }
    )*};
}

awaits!(Producer Consumer);

// The handle is never pinned.
impl<D: Design> Unpin for Closed<D> {}

impl<D: Design> Future for Closed<D> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Outside the lock, because cloning and dropping a waker run code of the executor.
        let waker = context.waker().clone();
        match self.handle.watch(self.seat, waker) {
            Watched::Closed => {
                self.seat = None;
                Poll::Ready(())
            }
            Watched::Seated(seat, former) => {
                self.seat = Some(seat);
                drop(former);
                Poll::Pending
            }
        }
    }
}

impl<D: Design> Drop for Closed<D> {
    fn drop(&mut self) {
        if let Some(seat) = self.seat {
            drop(self.handle.unwatch(seat));
        }
    }
}

debug_by_name!([D: Design] Closed<D>;);
