//! One clause of an alts: a take or a put.

use crate::sync::Arc;

use super::super::Channel;
use super::super::effects::Effects;
use super::super::hand::Hand;
use super::super::operation::Operation;
use super::super::state::Attempt;
use super::Tried;
use crate::channel::design::Deferred;

/// Tries to take. If it is not able, the request joins the channel, with the hand that its value goes to.
pub(super) fn try_take<T: Send + 'static>(
    channel: &Channel<T>,
    clause: usize,
    request: Option<(&Arc<Operation>, &Arc<Hand<T>>)>,
    taken: &mut Option<T>,
) -> Tried {
    // The value of a former run is dropped before the channel is locked, because its drop may use the channel.
    *taken = None;
    let mut effects = Effects::new();
    let me = request.map(|(request, _)| &**request);
    let mut state = channel.lock();
    let tried = match state.take_now(me, &mut effects) {
        Attempt::Done(value) => {
            *taken = value;
            Tried::Committed
        }
        Attempt::Lost(()) => Tried::Lost,
        Attempt::NotAble(()) => match request {
            Some((request, hand)) if !state.wait_to_take(request, clause, hand) => {
                Tried::TooManyWaiters
            }
            _ => Tried::NotAble,
        },
    };
    drop(state);
    effects.run();
    tried
}

/// Tries to put the value of the slot. If it is not able, the request joins the channel with the value.
///
/// # Panics
/// When the slot is empty: an alts is validated before it is run.
pub(super) fn try_put<T: Send + 'static>(
    channel: &Channel<T>,
    clause: usize,
    request: Option<&Arc<Operation>>,
    slot: &mut Option<T>,
) -> Tried {
    let value = slot.take().expect("validated: a put clause has its value");
    let mut effects = Effects::new();
    let me = request.map(|request| &**request);
    let mut state = channel.lock();
    let tried = match state.put_now(value, me, &mut effects) {
        Attempt::Done(done) => {
            *slot = done.err();
            Tried::Committed
        }
        Attempt::Lost(value) => {
            *slot = Some(value);
            Tried::Lost
        }
        Attempt::NotAble(value) => match request {
            None => {
                *slot = Some(value);
                Tried::NotAble
            }
            Some(request) => match state.wait_to_put(request, clause, value) {
                Ok(()) => Tried::NotAble,
                Err(value) => {
                    *slot = Some(value);
                    Tried::TooManyWaiters
                }
            },
        },
    };
    drop(state);
    effects.run();
    tried
}

/// Leaves a channel in which a put may wait. Its value goes back to the slot.
pub(super) fn leave_put<T: Send + 'static>(
    channel: &Channel<T>,
    clause: usize,
    request: &Operation,
    slot: &mut Option<T>,
) {
    if let Some(value) = channel.lock().withdraw_put(request, clause) {
        *slot = Some(value);
    }
}

/// Leaves a channel in which a take may wait.
pub(super) fn leave_take<T: Send + 'static>(
    channel: &Channel<T>,
    clause: usize,
    request: &Operation,
) {
    channel.lock().withdraw_take(request, clause);
}
