//! How a future waits for a state behind a lock.

use std::task::{Context, Poll, Waker};

use crate::sync::Mutex;

/// Returns what `look` finds. Where it finds nothing, `leave` stores the waker for the thread that changes the state.
/// What `leave` returns, the former waker, is dropped without the lock.
pub(super) fn look_or_leave<S, T, L>(
    state: &Mutex<S>,
    context: &Context<'_>,
    mut look: impl FnMut(&mut S) -> Option<T>,
    leave: impl FnOnce(&mut S, Waker) -> L,
) -> Poll<T> {
    if let Some(found) = look(&mut state.lock()) {
        return Poll::Ready(found);
    }
    // Cloned, and the old one dropped, without the lock: both run code of the executor.
    let waker = context.waker().clone();
    let mut state = state.lock();
    if let Some(found) = look(&mut state) {
        return Poll::Ready(found);
    }
    let left = leave(&mut state, waker);
    drop(state);
    drop(left);
    Poll::Pending
}
