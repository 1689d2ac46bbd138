//! Single puts and takes by the holder of the lock.
//!
//! Most notify at most one request, which is a put or a take of a thread or a task, and drop no value. Those are one
//! step, and make no list of effects. That step is inlined: its answer is too large for registers, and reading it back
//! from memory stalls. A debug build would only need more stack.

use std::mem::forget;

use flowmeter_harness::channel::{Offered, Polled};

use super::Guard;
use super::effects::Effects;
use super::store::Store;
use super::waiter::Notify;
use crate::channel::design::Deferred;
use crate::channel::front::Quick;
use crate::sync::contain;

/// Puts, releases the lock and notifies. Answers with the value if the channel is closed.
///
/// # Errors
/// Gives lock and value back where the put has to wait.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn put<T: Send, S: Store<T>>(
    mut state: Guard<'_, T, S>,
    value: T,
) -> Result<Result<(), T>, (Guard<'_, T, S>, T)> {
    let mut notify = Notify::Nothing;
    match state.offer_simply(value, &mut notify) {
        Quick::Done(()) => {
            state.count_use();
            drop(state);
            notify.tell();
            Ok(Ok(()))
        }
        Quick::Unable(value) => {
            // Nothing is in it, and a drop would have to look.
            forget(notify);
            Err((state, value))
        }
        Quick::Ask(value) => put_in_full(state, value),
    }
}

/// Takes, releases the lock and notifies. Answers with nothing if the channel is closed and empty.
///
/// # Errors
/// Gives the lock back where the take has to wait.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn take<T: Send, S: Store<T>>(
    mut state: Guard<'_, T, S>,
) -> Result<Option<T>, Guard<'_, T, S>> {
    let mut notify = Notify::Nothing;
    match state.poll_simply(&mut notify) {
        Quick::Done(value) => {
            state.count_use();
            drop(state);
            notify.tell();
            Ok(Some(value))
        }
        Quick::Unable(()) => {
            forget(notify);
            Err(state)
        }
        Quick::Ask(()) => take_in_full(state),
    }
}

#[cold]
#[inline(never)]
fn put_in_full<T: Send, S: Store<T>>(
    state: Guard<'_, T, S>,
    value: T,
) -> Result<Result<(), T>, (Guard<'_, T, S>, T)> {
    let mut effects = Effects::new();
    // Dropped before the effects, also if foreign code under the lock panics.
    let mut state = state;
    let offered = state.offer_in_full(value, &mut effects);
    let put = match offered {
        Offered::WouldWait(value) => return Err((state, value)),
        Offered::Closed(value) => Err(value),
        Offered::Done => {
            state.count_use();
            Ok(())
        }
    };
    drop(state);
    effects.run();
    Ok(put)
}

#[cold]
#[inline(never)]
fn take_in_full<T: Send, S: Store<T>>(
    state: Guard<'_, T, S>,
) -> Result<Option<T>, Guard<'_, T, S>> {
    let mut effects = Effects::new();
    let mut state = state;
    let polled = state.poll_in_full(&mut effects);
    let taken = match polled {
        Polled::WouldWait => return Err(state),
        Polled::Closed => None,
        Polled::Done(value) => {
            state.count_use();
            Some(value)
        }
    };
    drop(state);
    // A transform may have ended the channel, and a value of another put is dropped. If that panics, the taken one is not
    // lost.
    contain(|| effects.run());
    Ok(taken)
}
