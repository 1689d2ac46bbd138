//! Wakers that use the limiter at once, as those of an executor that polls in place do: they poll the acquisition that they
//! wake, and try.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

use flowmeter_harness::sync::world;

use super::super::{PERIOD, limiter, pause};
use crate::Case;
use crate::design::limiters::{Limiter, Limiters, Pending};
use crate::form::Way;

/// What may grant a permit to a waiter in front of it.
#[derive(Clone, Copy)]
enum Look {
    Poll,
    Try,
    Drop,
}

/// Under std a lock that is held would hang instead of failing. Loom has no room for a timer of tasks.
pub(super) fn cases(limiters: Limiters) -> Vec<Case> {
    if matches!(world::name(), "std" | "loom") {
        return Vec::new();
    }
    let looks = [
        ("a poll", Look::Poll),
        ("a try", Look::Try),
        ("a drop", Look::Drop),
    ];
    looks
        .map(|(name, look)| {
            let name = format!("async, woken by {name}, and uses the limiter at once");
            Case::new(name, move || woken_by(limiters, look))
        })
        .into()
}

/// An acquisition, and its waker.
struct InPlace {
    limiter: Limiter,
    /// Std's: it orders nothing between the threads of a model. `None` while it is used, and once it is over.
    acquiring: Mutex<Option<Pending<'static, ()>>>,
    acts: AtomicBool,
    is_over: AtomicBool,
}

impl InPlace {
    fn of(limiter: &Limiter) -> Arc<InPlace> {
        let own = limiter.clone();
        Arc::new(InPlace {
            limiter: limiter.clone(),
            acquiring: Mutex::new(Some(Box::pin(async move { own.acquire_async().await }))),
            acts: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        })
    }

    /// Exchanges the acquisition with the lock open before either is used.
    fn swap(&self, acquiring: Option<Pending<'static, ()>>) -> Option<Pending<'static, ()>> {
        let mut held = self
            .acquiring
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut held, acquiring)
    }

    fn poll(self: &Arc<Self>) {
        let waker = Waker::from(Arc::clone(self));
        let Some(mut acquiring) = self.swap(None) else {
            return;
        };
        let polled = acquiring.as_mut().poll(&mut Context::from_waker(&waker));
        match polled.is_pending() {
            true => drop(self.swap(Some(acquiring))),
            false => self.ends(acquiring),
        }
    }

    fn ends(&self, acquiring: Pending<'static, ()>) {
        drop(acquiring);
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Waits for its permit, and for a thread of the timer that polls it now.
    fn finish(&self) {
        self.acts.store(false, Ordering::Relaxed);
        while !self.is_over.load(Ordering::Relaxed) {
            match self.swap(None) {
                Some(mut acquiring) => {
                    world::block_on(acquiring.as_mut());
                    self.ends(acquiring);
                }
                None => world::yield_now(),
            }
        }
    }
}

impl Wake for InPlace {
    fn wake(self: Arc<Self>) {
        if self.acts.load(Ordering::Relaxed) {
            self.poll();
            self.limiter.try_acquire();
        }
    }
}

/// Two wait until the permit of the first is back. Neither has looked by then, and another's look serves the first.
fn woken_by(limiters: Limiters, look: Look) {
    let limiter = limiter(limiters, 1, PERIOD);
    limiter.try_acquire();
    let waiting = [(); 2].map(|()| InPlace::of(&limiter));
    waiting.iter().for_each(InPlace::poll);
    pause(limiters, Way::Async, PERIOD + PERIOD / 3);
    for waiter in &waiting {
        waiter.acts.store(true, Ordering::Relaxed);
    }
    // A lock that is held while a waker runs is a deadlock here.
    match look {
        Look::Poll => waiting[1].poll(),
        Look::Try => drop(limiter.try_acquire()),
        Look::Drop => waiting[1]
            .swap(None)
            .into_iter()
            .for_each(|last| waiting[1].ends(last)),
    }
    waiting.iter().for_each(|waiter| waiter.finish());
}
