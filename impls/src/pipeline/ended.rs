//! Tells a loop that the item which it has begun has ended.

use std::future::poll_fn;
use std::mem;
use std::task::Waker;

use crate::sync::{Arc, Mutex};

use super::look::look_or_leave;

/// Set by each item of a loop, one after the other.
#[derive(Debug, Default)]
pub(super) struct Ended(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    ended: bool,
    waits: Option<Waker>,
}

/// Held by an item until it has ended.
#[derive(Debug)]
pub struct Permit(Arc<Ended>);

impl Permit {
    /// The permit of the loop's next item, after the one before has ended.
    pub(super) fn of(ended: &Arc<Ended>) -> Self {
        Permit(Arc::clone(ended))
    }
}

impl Ended {
    /// Waits until the item has ended.
    pub(super) async fn wait(&self) {
        let look = |state: &mut State| mem::take(&mut state.ended).then_some(());
        poll_fn(|context| {
            look_or_leave(&self.0, context, look, |state, waker| {
                state.waits.replace(waker)
            })
        })
        .await;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        state.ended = true;
        let waits = state.waits.take();
        drop(state);
        if let Some(waits) = waits {
            waits.wake();
        }
    }
}
