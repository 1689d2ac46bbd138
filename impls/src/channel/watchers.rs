//! Futures that wait for a channel to close, each with a seat behind the channel's lock.
//!
//! Puts and takes need the same lock, so finding a seat must not take longer the more futures wait: seats are a map by
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
    /// Says whether the channel was closed; has the waker wait for that in a seat if it was not.
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

/// Behind the channel's lock, until it closes.
pub struct Watchers {
    seats: BTreeMap<u64, Waker>,
    next: u64,
}

/// What became of asking whether the channel has closed.
enum Watched {
    /// It has.
    Closed,
    /// It has not: the waker stands in this seat. A former one is to be dropped outside every lock, since that is
    /// foreign code.
    Seated(u64, Option<Waker>),
}

impl Watchers {
    pub(super) const fn new() -> Self {
        Watchers {
            seats: BTreeMap::new(),
            next: 0,
        }
    }

    /// Takes a seat, or renews the waker in one.
    fn seat(&mut self, seat: Option<u64>, waker: Waker) -> Watched {
        let number = seat.unwrap_or_else(|| {
            self.next += 1;
            self.next
        });
        Watched::Seated(number, self.seats.insert(number, waker))
    }

    /// Gives a seat up; its waker is to be dropped outside every lock.
    #[must_use = "its drop is foreign code"]
    fn leave(&mut self, seat: u64) -> Option<Waker> {
        self.seats.remove(&seat)
    }

    /// All wakers, the longest seated first, to be woken outside every lock.
    pub(super) fn rise(&mut self) -> impl Iterator<Item = Waker> + use<> {
        std::mem::take(&mut self.seats).into_values()
    }
}

/// Ready once its channel is closed, whatever is still to be taken from it. Dropping it leaves nothing behind.
#[must_use = "a future does nothing unless it is polled"]
pub struct Closed<D: Design> {
    handle: Handle<D>,
    seat: Option<u64>,
}

/// Either half can await the close.
macro_rules! awaits {
    ($($half:ident)*) => {$(
        impl<D: Design> $half<D> {
            /// Ready once the channel is closed, by whomever, or by the last producer's or consumer's end.
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
        // Outside the lock: cloning and dropping a waker run code of the executor.
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
