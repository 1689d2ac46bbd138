//! `mutex`: core.async's `ManyToManyChannel` in Rust, the reference for the other designs.
//!
//! One lock guards the stored values and the waiting requests. A request that cannot be met at once waits as a handler
//! with a flag (`operation`). The thread that meets it later commits it under the channel's lock. For a take it leaves
//! the value in the take's `hand`. After releasing the lock it wakes the request's thread or future, or runs its
//! callback. An alts is one such request that waits in several channels, whatever they carry. It joins them clause by
//! clause, each under its own lock, as in core.async.
//!
//! It differs from core.async 1.5.648 on purpose in these points:
//!
//! * a closed port takes effect only once its alts is won (A2)
//! * an alts never pairs with itself (A4)
//! * the 1,025th waiting request gets an error instead of a panic (C7)
//! * requests that lost are removed by the time their call returns (A8)
//!
//! Source: `clojure.core.async.impl.channels` and `clojure.core.async/do-alts`, version 1.5.648.

mod alts;
mod callback;
mod effects;
mod family;
mod future;
mod hand;
mod operation;
mod reserve;
mod state;
mod store;
mod transformed;
mod waiting;

use flowmeter_harness::channel::{Message, PutError, PutUntilError, TakeError, TakeUntilError};
use flowmeter_harness::sync::Deadline;

use super::design::{Deferred, Design};
use super::front::Shut;
use super::handle::Handle;
use super::{halves, permits, trampoline};
use crate::sync::{Arc, LightMutex, LightMutexGuard, Parker, clock};

pub use super::design::MAX_WAITERS;
pub use alts::{AnyClause, Prepared, PutClause, TakeClause};
pub use family::MutexChannels;
pub use future::{PutFuture, TakeFuture};

use effects::Effects;
use hand::Hand;
use operation::{Committed, Notify, Operation};
use state::{Attempt, State};

/// A channel: the one handle that puts, takes and closes.
pub type Channel<T> = Handle<State<T>>;
/// The half that puts.
pub type Producer<T> = halves::Producer<State<T>>;
/// The half that takes.
pub type Consumer<T> = halves::Consumer<State<T>>;
/// A producer that keeps nothing open.
pub type WeakProducer<T> = halves::WeakProducer<State<T>>;
/// Room for one value. Dropping it gives the room back.
pub type Permit<'a, T> = permits::Permit<'a, State<T>>;

impl<T: Message> Design for State<T> {
    type Front = Shut;
    type Guard<'a> = LightMutexGuard<'a, Self>;
    type PutFuture<'a> = PutFuture<'a, T>;
    type TakeFuture<'a> = TakeFuture<'a, T>;

    fn front(&self) -> Shut {
        Shut
    }

    #[inline]
    #[track_caller]
    fn lock(state: &LightMutex<Self>) -> LightMutexGuard<'_, Self> {
        state.lock()
    }

    fn put_until(
        channel: &Channel<T>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        let mut effects = Effects::new();
        let mut state = channel.lock();
        let attempt = state.put_now(value, None, &mut effects);
        let Attempt::NotAble(value) = attempt else {
            drop(state);
            effects.run();
            let Attempt::Done(Err(value)) = attempt else {
                return Ok(());
            };
            return Err(PutUntilError::Put(PutError::Closed(Some(value))));
        };
        if clock::has_passed(deadline) {
            return Err(PutUntilError::TimedOut(value));
        }
        let parker = Parker::new();
        let operation = Operation::new(Notify::thread(&parker));
        state
            .wait_to_put(&operation, 0, value)
            .map_err(|value| PutUntilError::Put(PutError::TooManyWaiters(value)))?;
        drop(state);
        match wait(&parker, &operation, deadline) {
            Some(committed) if !committed.refused => Ok(()),
            ended => {
                let value = channel.lock().withdraw_put(&operation, 0);
                let value = value.expect("only its own thread removes a put that is over");
                Err(match ended {
                    Some(_) => PutUntilError::Put(PutError::Closed(Some(value))),
                    None => PutUntilError::TimedOut(value),
                })
            }
        }
    }

    fn take_until(channel: &Channel<T>, deadline: Deadline) -> Result<T, TakeUntilError> {
        let mut effects = Effects::new();
        let mut state = channel.lock();
        if let Attempt::Done(value) = state.take_now(None, &mut effects) {
            drop(state);
            effects.run();
            return value.ok_or(TakeUntilError::Take(TakeError::Closed));
        }
        if clock::has_passed(deadline) {
            return Err(TakeUntilError::TimedOut);
        }
        let parker = Parker::new();
        let operation = Operation::new(Notify::thread(&parker));
        let hand = Arc::new(Hand::new());
        if !state.wait_to_take(&operation, 0, &hand) {
            return Err(TakeUntilError::Take(TakeError::TooManyWaiters));
        }
        drop(state);
        match wait(&parker, &operation, deadline) {
            Some(_) => hand.value().ok_or(TakeUntilError::Take(TakeError::Closed)),
            None => {
                channel.lock().withdraw_take(&operation, 0);
                Err(TakeUntilError::TimedOut)
            }
        }
    }

    fn put_async(channel: &Channel<T>, value: T) -> PutFuture<'_, T> {
        PutFuture::new(channel, value)
    }

    fn take_async(channel: &Channel<T>) -> TakeFuture<'_, T> {
        TakeFuture::new(channel)
    }
}

/// Waits until another thread commits a clause, and returns that commit. `None` when the deadline passed and the
/// request is withdrawn.
fn wait(parker: &Parker, operation: &Operation, deadline: Deadline) -> Option<Committed> {
    loop {
        if let Some(committed) = operation.committed() {
            return Some(committed);
        }
        if clock::has_passed(deadline) && operation.end() {
            return None;
        }
        trampoline::before_waiting();
        // Another thread may have committed since the look. Then its token is here, or will come.
        parker.park_until(deadline);
    }
}
