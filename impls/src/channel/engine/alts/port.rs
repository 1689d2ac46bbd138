//! One clause of an alts at its locked channel: a take or a put.

use flowmeter_harness::channel::{Message, Offered, Polled};

use crate::sync::{Arc, Mutex};

use super::super::ChannelOver;
use super::super::effects::Effects;
use super::super::line::{Line, Party, Request, Slot};
use super::super::state::{Put, State, Taken};
use super::super::store::Store;
use crate::channel::design::Core;
use crate::channel::front::{Front, Quick};

/// Where clauses of one kind are answered. One slot serves all of them, because only one clause is answered.
pub(super) struct Answers<A>(Option<Slot<A>>);

impl<A> Answers<A> {
    /// No answer, and no slot allocated: most runs do not wait.
    pub(super) fn new() -> Self {
        Answers(None)
    }

    fn slot(&mut self) -> Slot<A> {
        let slot = self.0.get_or_insert_with(|| Arc::new(Mutex::new(None)));
        Arc::clone(slot)
    }

    /// The answer. Call it under the lock of the channel of the clause that won, because the committing thread writes
    /// the answer under that lock.
    pub(super) fn fetch(&self) -> Option<A> {
        self.0.as_ref().and_then(|slot| slot.lock().take())
    }
}

/// Tries to take without the lock. "Unable" is certain only with `sure`.
#[inline]
pub(super) fn glance_take<T: Message, S: Store<T>>(
    channel: &ChannelOver<T, S>,
    taken: &mut Option<T>,
    sure: bool,
) -> Quick<(), ()> {
    if let Some(value) = channel.front.poll_at_once() {
        *taken = Some(value);
        return Quick::Done(());
    }
    let polled = match sure {
        true => channel.front.poll::<true>(),
        false => channel.front.poll::<false>(),
    };
    match polled {
        Quick::Done(value) => {
            *taken = Some(value);
            Quick::Done(())
        }
        Quick::Unable(()) => Quick::Unable(()),
        Quick::Ask(()) => Quick::Ask(()),
    }
}

/// Tries to put the value of the slot without the lock. A value that is not accepted goes back to the slot. "Unable" is
/// certain only with `sure`.
///
/// # Panics
/// When the slot is empty: an alts is validated before it is run.
#[inline]
pub(super) fn glance_put<T: Message, S: Store<T>>(
    channel: &ChannelOver<T, S>,
    slot: &mut Option<T>,
    sure: bool,
) -> Quick<(), ()> {
    let value = slot.take().expect("validated: a put clause has its value");
    let value = match channel.front.offer_at_once(value) {
        Ok(()) => return Quick::Done(()),
        Err(value) => value,
    };
    let offered = match sure {
        true => channel.front.offer::<true>(value),
        false => channel.front.offer::<false>(value),
    };
    match offered {
        Quick::Done(()) => Quick::Done(()),
        Quick::Unable(value) => {
            *slot = Some(value);
            Quick::Unable(())
        }
        Quick::Ask(value) => {
            *slot = Some(value);
            Quick::Ask(())
        }
    }
}

/// Tries to take.
pub(super) fn try_take<T: Message, S: Store<T>>(
    state: &mut State<T, S>,
    taken: &mut Option<T>,
    effects: &mut Effects<T>,
) -> bool {
    match state.poll(effects) {
        Polled::Done(value) => *taken = Some(value),
        Polled::Closed => {}
        Polled::WouldWait => return false,
    }
    true
}

/// Tries to put the value of the slot. A value that is not accepted goes back to the slot.
///
/// # Panics
/// When the slot is empty: an alts is validated before it is run.
pub(super) fn try_put<T: Message, S: Store<T>>(
    state: &mut State<T, S>,
    slot: &mut Option<T>,
    effects: &mut Effects<T>,
) -> bool {
    let value = slot.take().expect("validated: a put clause has its value");
    match state.offer(value, effects) {
        Offered::Done => true,
        Offered::Closed(value) => {
            *slot = Some(value);
            true
        }
        Offered::WouldWait(value) => {
            *slot = Some(value);
            false
        }
    }
}

/// Adds a take to the line; `false` if the line is full.
pub(super) fn join_take<T: Message, S: Store<T>>(
    state: &mut State<T, S>,
    clause: usize,
    request: &Arc<Request>,
    answers: &mut Answers<Taken<T>>,
) -> bool {
    join(&mut state.takes, clause, request, answers, || ())
}

/// Adds a put to the line, with the value of its slot; `false` if the line is full.
pub(super) fn join_put<T: Message, S: Store<T>>(
    state: &mut State<T, S>,
    clause: usize,
    request: &Arc<Request>,
    answers: &mut Answers<Put<T>>,
    slot: &mut Option<T>,
) -> bool {
    join(&mut state.puts, clause, request, answers, || slot.take())
}

fn join<A: Send + 'static, V>(
    line: &mut Line<A, V>,
    clause: usize,
    request: &Arc<Request>,
    answers: &mut Answers<A>,
    with: impl FnOnce() -> V,
) -> bool {
    if line.is_full() {
        return false;
    }
    let party = Party::Clause {
        request: Arc::clone(request),
        clause,
        slot: answers.slot(),
    };
    line.join_other(party, with());
    true
}
