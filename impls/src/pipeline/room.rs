//! A counter of free places. Loops take places one at a time; a single loop waits where there is none.

use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::task::Waker;

use crate::sync::Mutex;

use super::look::look_or_leave;

/// A fixed number of places.
#[derive(Debug)]
pub(super) struct Room {
    places: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    places: usize,
    /// The loop that waits for a place.
    waits: Option<Waker>,
}

impl Room {
    pub(super) fn new(places: NonZeroUsize) -> Self {
        Room {
            places: places.get(),
            taken: Mutex::new(Taken::default()),
        }
    }

    /// Takes a place. One caller may wait at a time.
    pub(super) async fn enter(&self) {
        let look = |taken: &mut Taken| self.try_enter(taken).then_some(());
        poll_fn(|context| {
            look_or_leave(&self.taken, context, look, |taken, waker| {
                taken.waits.replace(waker)
            })
        })
        .await;
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
