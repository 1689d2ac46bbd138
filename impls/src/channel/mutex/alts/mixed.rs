//! Clauses of any message types. Each clause is a value of its own, and a run sees all of them through one trait.

use flowmeter_harness::channel::{AltsError, Order, Patience, Winner};

use crate::sync::Arc;

use super::super::Channel;
use super::super::effects::Effects;
use super::super::hand::{Hand, Handed};
use super::super::operation::Operation;
use super::{Clauses, Tried, port, run};
use crate::channel::by_name::debug_by_name;
use crate::channel::design::Deferred;

/// A take of an alts, and the value that it took.
pub struct TakeClause<'a, T: Send + 'static> {
    channel: &'a Channel<T>,
    taken: Option<T>,
    /// Allocated once the take has had to wait.
    hand: Option<Arc<Hand<T>>>,
}

/// A put of an alts, and its value.
pub struct PutClause<'a, T: Send + 'static> {
    channel: &'a Channel<T>,
    slot: Option<T>,
}

impl<'a, T: Send + 'static> TakeClause<'a, T> {
    pub(in super::super) fn new(channel: &'a Channel<T>) -> Self {
        TakeClause {
            channel,
            taken: None,
            hand: None,
        }
    }

    pub(in super::super) fn taken(&mut self) -> Option<T> {
        self.taken.take()
    }
}

impl<'a, T: Send + 'static> PutClause<'a, T> {
    pub(in super::super) fn new(channel: &'a Channel<T>, slot: Option<T>) -> Self {
        PutClause { channel, slot }
    }

    pub(in super::super) fn slot(&mut self) -> &mut Option<T> {
        &mut self.slot
    }
}

/// A clause as a run sees it, whatever message type it carries.
pub struct AnyClause<'c>(&'c mut dyn AltsClause);

impl<'c> AnyClause<'c> {
    pub(in super::super) fn take<T: Send + 'static>(clause: &'c mut TakeClause<'_, T>) -> Self {
        AnyClause(clause)
    }

    pub(in super::super) fn put<T: Send + 'static>(clause: &'c mut PutClause<'_, T>) -> Self {
        AnyClause(clause)
    }

    /// Gives back to the channel what another thread's commit has handed over (C9).
    pub(super) fn give_back(&mut self) {
        self.0.give_back();
    }
}

/// One clause. Methods without a comment are as in [`Clauses`].
trait AltsClause: Send {
    fn misses_value(&self) -> bool;
    fn attempt(&mut self, clause: usize, request: Option<&Arc<Operation>>) -> Tried;
    fn leave(&mut self, clause: usize, request: &Operation);
    fn receive(&mut self);
    /// See [`AnyClause::give_back`].
    fn give_back(&mut self);
}

impl<T: Send + 'static> AltsClause for TakeClause<'_, T> {
    fn misses_value(&self) -> bool {
        false
    }

    fn attempt(&mut self, clause: usize, request: Option<&Arc<Operation>>) -> Tried {
        let request = request.map(|request| {
            let hand = self.hand.get_or_insert_with(|| Arc::new(Hand::new()));
            (request, &*hand)
        });
        port::try_take(self.channel, clause, request, &mut self.taken)
    }

    fn leave(&mut self, clause: usize, request: &Operation) {
        port::leave_take(self.channel, clause, request);
    }

    fn receive(&mut self) {
        self.taken = self.hand.as_ref().and_then(|hand| hand.value());
    }

    fn give_back(&mut self) {
        let handed = self.hand.as_ref().and_then(|hand| hand.fetch());
        if let Some(Handed { value, place }) = handed {
            let mut effects = Effects::new();
            let mut state = self.channel.lock();
            state.give_back(value, place, &mut effects);
            drop(state);
            effects.run();
        }
    }
}

impl<T: Send + 'static> AltsClause for PutClause<'_, T> {
    fn misses_value(&self) -> bool {
        self.slot.is_none()
    }

    fn attempt(&mut self, clause: usize, request: Option<&Arc<Operation>>) -> Tried {
        port::try_put(self.channel, clause, request, &mut self.slot)
    }

    fn leave(&mut self, clause: usize, request: &Operation) {
        port::leave_put(self.channel, clause, request, &mut self.slot);
    }

    /// The value of a put was taken from the channel where it waited.
    fn receive(&mut self) {}

    /// The value of a put is delivered.
    fn give_back(&mut self) {}
}

impl Clauses for [AnyClause<'_>] {
    fn count(&self) -> usize {
        self.len()
    }

    fn missing_value(&self) -> Option<usize> {
        self.iter().position(|clause| clause.0.misses_value())
    }

    fn attempt(&mut self, clause: usize, request: Option<&Arc<Operation>>) -> Tried {
        self[clause].0.attempt(clause, request)
    }

    fn leave(&mut self, clause: usize, request: &Operation) {
        self[clause].0.leave(clause, request);
    }

    fn receive(&mut self, clause: usize) {
        self[clause].0.receive();
    }
}

/// Commits exactly one clause, or none when patience ends first.
pub(in super::super) fn run_mixed(
    clauses: &mut [AnyClause<'_>],
    order: Order,
    patience: Patience,
) -> Result<Winner, AltsError> {
    let mut indices: Vec<usize> = (0..clauses.len()).collect();
    run(clauses, &mut indices, order, patience)
}

debug_by_name! {
    [T: Send + 'static] TakeClause<'_, T>;
    [T: Send + 'static] PutClause<'_, T>;
    [] AnyClause<'_>;
}
