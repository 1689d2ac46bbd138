//! Run permits and places in a window, counted apart: who begins items waits for one of each.

use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::task::{Context, Poll, Waker};

use crate::sync::{Arc, Mutex};

/// Run permits and places in the window, for one loop that starts items.
#[derive(Debug)]
pub(super) struct Room {
    permits: usize,
    places: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    permits: usize,
    places: usize,
    /// Who waits for one of each.
    starter: Option<Waker>,
}

/// An item's, until it has ended.
#[derive(Debug)]
pub struct Permit(Arc<Room>);

impl Room {
    pub(super) fn new(parallelism: NonZeroUsize, window: NonZeroUsize) -> Room {
        Room {
            permits: parallelism.get(),
            places: window.get(),
            taken: Mutex::new(Taken::default()),
        }
    }

    /// A permit and a place. One may wait at a time; a place that no item comes for stays taken, as there are no
    /// more then.
    pub(super) async fn enter(room: &Arc<Room>) -> Permit {
        poll_fn(|context| room.poll_enter(context)).await;
        Permit(Arc::clone(room))
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
        let old = taken.starter.replace(waker);
        drop(taken);
        drop(old);
        Poll::Pending
    }

    fn try_enter(&self, taken: &mut Taken) -> bool {
        let enters = self.have_both(taken);
        if enters {
            taken.permits += 1;
            taken.places += 1;
        }
        enters
    }

    fn have_both(&self, taken: &Taken) -> bool {
        taken.permits < self.permits && taken.places < self.places
    }

    /// All results of an item are delivered.
    pub(super) fn delivered(&self) {
        self.leave(|taken| taken.places -= 1);
    }

    fn leave(&self, leave: impl FnOnce(&mut Taken)) {
        let mut taken = self.taken.lock();
        leave(&mut taken);
        let starter = if self.have_both(&taken) {
            taken.starter.take()
        } else {
            None
        };
        drop(taken);
        if let Some(starter) = starter {
            starter.wake();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.leave(|taken| taken.permits -= 1);
    }
}
