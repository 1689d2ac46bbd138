//! Threads of the explored worlds, and their bookkeeping.

use ::std::fmt;
use ::std::marker::PhantomData;
use ::std::panic::Location;

use super::super::body::{Answer, Body, answered, erased};
use super::super::cost::allocations::apart;
use super::super::trace;
use super::census::{self, State};
use super::{Engine, helper, time};

/// A thread.
pub struct JoinHandle<E: Engine, T: 'static> {
    started: Started<E>,
    answer: PhantomData<fn() -> T>,
}

/// A thread with an untyped result.
struct Started<E: Engine> {
    raw: E::JoinHandle,
    number: usize,
}

/// Starts a thread.
#[inline]
#[track_caller]
pub fn spawn<E: Engine, T: Send + 'static>(
    body: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<E, T> {
    let _apart = apart();
    JoinHandle {
        started: Started::new(erased(body)),
        answer: PhantomData,
    }
}

/// Starts a thread for which an execution does not wait: it may end, or wait, when the others have ended.
#[cfg(feature = "shuttle")]
#[track_caller]
pub fn spawn_guest<E: Engine>(body: impl FnOnce() + Send + 'static) {
    let _apart = apart();
    let started = Started::<E>::new(erased(body));
    census::with(|census| census.thread(started.number).guest = true);
    helper::ensure::<E>();
}

impl<E: Engine> Started<E> {
    #[track_caller]
    fn new(body: Body) -> Self {
        let number = census::with(|census| census.enter());
        trace::step(
            || format!("starts thread {number}"),
            Some(Location::caller()),
        );
        let raw = E::spawn(Box::new(move || {
            E::set_me(number);
            let result = body();
            leave(number);
            E::leave();
            result
        }));
        Started { raw, number }
    }

    #[track_caller]
    fn join(self) -> Answer {
        let _apart = apart();
        let me = E::me();
        if let Some(me) = me {
            let at = Location::caller();
            trace::step(|| format!("joins thread {}", self.number), Some(at));
            let settled = census::with(|census| {
                census.thread(me).state = State::Joining {
                    thread: self.number,
                    at,
                };
                census.settle()
            });
            helper::act(settled);
        }
        let result = E::join(self.raw);
        if let Some(me) = me {
            census::runs(me);
        }
        result
    }
}

/// Records that a thread has finished its work.
pub fn leave(number: usize) {
    trace::step(|| "ends".to_owned(), None);
    let settled = census::with(|census| {
        census.thread(number).state = State::Gone;
        census.wrote();
        census.settle()
    });
    helper::act(settled);
}

impl<E: Engine, T: 'static> JoinHandle<E, T> {
    /// Waits for the thread's result.
    ///
    /// # Panics
    /// With what the thread panicked with.
    #[inline]
    #[track_caller]
    pub fn join(self) -> T {
        answered(self.started.join())
    }
}

impl<E: Engine, T> fmt::Debug for JoinHandle<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JoinHandle")
            .field(&self.started.number)
            .finish()
    }
}

/// Lets others run. After many yields without other events a timer fires. If there is none, it is a livelock.
#[inline]
#[track_caller]
pub fn yield_now<E: Engine>() {
    let _apart = apart();
    let (me, at) = (E::me(), Location::caller());
    let settled = census::with(|census| {
        census.spun += 1;
        if E::SEQUENTIAL
            && let Some(me) = me
        {
            census.yields(me, at)?;
        }
        if census.spun >= census::SPINS {
            census.settle()
        } else {
            Ok(None)
        }
    });
    helper::act(settled);
    E::yield_now();
}

/// A key that is unique in this execution; later ones are greater. Each execution begins anew.
#[inline]
#[track_caller]
pub fn order_key() -> u64 {
    census::with(|census| {
        census.keys += 1;
        census.keys
    })
}

/// The place of an object in the order in which locks are taken. Here it is a key, since an address does not replay.
#[derive(Debug)]
pub struct LockPlace(u64);

impl LockPlace {
    /// A place for a new object.
    #[inline]
    #[track_caller]
    pub fn fresh() -> Self {
        LockPlace(order_key())
    }

    /// The number of the object that has this place.
    #[inline]
    #[track_caller]
    pub fn of<T>(&self, _object: &T) -> u64 {
        self.0
    }
}

/// Registers `rescue` to be run by the helper at quiescence.
pub fn on_quiescence<E: Engine>(rescue: impl FnOnce() + Send + 'static) {
    time::order();
    census::with(|census| census.rescuers.push(Box::new(rescue)));
    helper::ensure::<E>();
}
