//! `Parker`, `Unparker` and `block_on` of the explored worlds.

use ::std::fmt;
use ::std::future::Future;
use ::std::marker::PhantomData;
use ::std::panic::Location;
use ::std::pin::pin;
use ::std::sync::atomic::Ordering;
use ::std::sync::{Arc, Mutex as Plain, PoisonError};
use ::std::task::{Context, Poll, Wake, Waker};

use super::super::Deadline;
use super::super::cost::allocations::apart;
use super::super::sites::{self, Breakage, Kind};
use super::mischief::Mischief;
use super::seat::{Rouse, Seat};
use super::{Engine, Word, time};

const EMPTY: u64 = 0;
const TOKEN: u64 = 1;

struct Bench<E: Engine> {
    /// The token: given with release and taken with acquire, as in std's parking, and no stronger.
    token: Arc<E::Word>,
    /// Where the parked thread sits.
    seat: Plain<Option<Arc<Seat<E>>>>,
}

impl<E: Engine> Bench<E> {
    fn seat(&self) -> ::std::sync::MutexGuard<'_, Option<Arc<Seat<E>>>> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The waiting place of the thread that made it. Holds at most one token.
pub struct Parker<E: Engine> {
    unparker: Unparker<E>,
    /// Only the thread that made it may park.
    not_send: PhantomData<*const ()>,
}

/// Wakes the thread of a [`Parker`].
pub struct Unparker<E: Engine>(Arc<Bench<E>>);

impl<E: Engine> Clone for Unparker<E> {
    #[inline]
    fn clone(&self) -> Self {
        Unparker(self.0.clone())
    }
}

impl<E: Engine> Default for Parker<E> {
    fn default() -> Self {
        Parker::new()
    }
}

impl<E: Engine> Parker<E> {
    /// A waiting place for this thread, with a token of its own.
    #[inline]
    #[track_caller]
    pub fn new() -> Self {
        let _apart = apart();
        Parker {
            unparker: Unparker(Arc::new(Bench {
                token: Arc::new(E::Word::new(EMPTY)),
                seat: Plain::default(),
            })),
            not_send: PhantomData,
        }
    }

    /// A handle that wakes this parker.
    #[inline]
    #[track_caller]
    pub fn unparker(&self) -> Unparker<E> {
        self.unparker.clone()
    }

    /// Waits for the token and takes it.
    #[inline]
    #[track_caller]
    pub fn park(&self) {
        self.sit("park", Location::caller(), Deadline::NEVER);
    }

    /// As [`Parker::park`], until `deadline` at most.
    #[inline]
    #[track_caller]
    pub fn park_until(&self, deadline: Deadline) {
        self.sit("park", Location::caller(), deadline);
    }

    fn sit(&self, what: &'static str, at: &'static Location<'static>, deadline: Deadline) {
        let _apart = apart();
        let passed = time::has_passed(deadline);
        let bench = &*self.unparker.0;
        if deadline != Deadline::NEVER && !passed {
            time::order();
        }
        if bench.token.swap(EMPTY, Ordering::Acquire) == TOKEN || passed {
            return;
        }
        if E::misbehaves(Mischief::SpuriousWakeUp, 1) > 0 {
            return;
        }
        let seat = Seat::take();
        *bench.seat() = Some(seat.clone());
        seat.sit(what, at, deadline, &bench.token);
        bench.token.swap(EMPTY, Ordering::Acquire);
        *bench.seat() = None;
    }
}

impl<E: Engine> Unparker<E> {
    /// Gives the token.
    #[inline]
    #[track_caller]
    pub fn unpark(&self) {
        let broken = sites::pass(Kind::Unpark, None, Location::caller());
        if broken != Some(Breakage::Dropped) {
            self.give();
        }
    }

    fn give(&self) {
        let _apart = apart();
        self.0.token.swap(TOKEN, Ordering::Release);
        let seat = self.0.seat().take();
        if seat.is_some_and(|seat| seat.rouse()) {
            E::woke();
        }
    }
}

impl<E: Engine> Wake for Unparker<E> {
    // The line that wakes is hidden behind std's table of functions, so this is no site.
    fn wake(self: Arc<Self>) {
        self.give();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.give();
    }
}

/// Runs a future on this thread.
#[inline]
#[track_caller]
pub fn block_on<E: Engine, F: Future>(future: F) -> F::Output {
    let at = Location::caller();
    let parker = Parker::<E>::new();
    let waker = {
        let _apart = apart();
        Waker::from(Arc::new(parker.unparker()))
    };
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => parker.sit("block_on", at, Deadline::NEVER),
        }
    }
}

impl<E: Engine> fmt::Debug for Parker<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parker").finish_non_exhaustive()
    }
}

impl<E: Engine> fmt::Debug for Unparker<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unparker").finish_non_exhaustive()
    }
}
