//! Room for so many: loops take it one at a time, and the one whose time it is waits where there is none.

use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::task::{Context, Poll, Waker};

use crate::sync::Mutex;

/// So many places.
#[derive(Debug)]
pub(super) struct Room {
    places: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    places: usize,
    /// Who waits for one.
    waits: Option<Waker>,
}

impl Room {
    pub(super) fn new(places: NonZeroUsize) -> Self {
        Room {
            places: places.get(),
            taken: Mutex::new(Taken::default()),
        }
    }

    /// Takes a place. One may wait at a time.
    pub(super) async fn enter(&self) {
        poll_fn(|context| self.poll_enter(context)).await;
    }

    fn poll_enter(&self, context: &Context<'_>) -> Poll<()> {
        if self.try_enter(&mut self.taken.lock()) {
            return Poll::Ready(());
        }
        // Cloned, and the old one dropped, without the lock: both run code of the executor.
        let waker = context.waker().clone();
        let mut taken = self.taken.lock();
        if self.try_enter(&mut taken) {
            return Poll::Ready(());
        }
        let old = taken.waits.replace(waker);
        drop(taken);
        drop(old);
        Poll::Pending
    }

    fn try_enter(&self, taken: &mut Taken) -> bool {
        let enters = taken.places < self.places;
        if enters {
            taken.places += 1;
        }
        enters
    }

    /// Gives a place back.
    pub(super) fn leave(&self) {
        let mut taken = self.taken.lock();
        taken.places -= 1;
        let waits = taken.waits.take();
        drop(taken);
        if let Some(waits) = waits {
            waits.wake();
        }
    }
}
