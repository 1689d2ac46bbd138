//! Clauses of any message types. Each clause is a value of its own, and a run sees all of them through one trait.

use std::any::Any;

use flowmeter_harness::channel::{AltsError, Message, Order, Patience, Winner};

use crate::sync::Arc;

use super::super::buffer::Buffer;
use super::super::effects::Effects;
use super::super::line::Request;
use super::super::state::{Handed, Put, State, Taken};
use super::super::store::Store;
use super::super::{ChannelOver, Guard};
use super::locking::Locking;
use super::port::{self, Answers};
use super::{Clauses, run};
use crate::channel::by_name::debug_by_name;
use crate::channel::design::Deferred;
use crate::channel::front::{Front, Quick};

/// A take of an alts, and the value that it took.
pub struct TakeClause<'a, T: Message, S: Store<T> = Buffer<T>> {
    channel: &'a ChannelOver<T, S>,
    taken: Option<T>,
    answers: Answers<Taken<T>>,
    effects: Effects<T>,
}

/// A put of an alts, and its value.
pub struct PutClause<'a, T: Message, S: Store<T> = Buffer<T>> {
    channel: &'a ChannelOver<T, S>,
    slot: Option<T>,
    answers: Answers<Put<T>>,
    effects: Effects<T>,
}

impl<'a, T: Message, S: Store<T> + 'static> TakeClause<'a, T, S> {
    pub(in crate::channel) fn new(channel: &'a ChannelOver<T, S>) -> Self {
        TakeClause {
            channel,
            taken: None,
            answers: Answers::new(),
            effects: Effects::new(),
        }
    }

    pub(in crate::channel) fn taken(&mut self) -> Option<T> {
        self.taken.take()
    }
}

impl<'a, T: Message, S: Store<T> + 'static> PutClause<'a, T, S> {
    pub(in crate::channel) fn new(channel: &'a ChannelOver<T, S>, slot: Option<T>) -> Self {
        PutClause {
            channel,
            slot,
            answers: Answers::new(),
            effects: Effects::new(),
        }
    }

    pub(in crate::channel) fn slot(&mut self) -> &mut Option<T> {
        &mut self.slot
    }
}

/// A clause as a run sees it, whatever message type it carries.
pub struct AnyClause<'c>(&'c mut (dyn AltsClause<'c> + 'c));

impl<'c> AnyClause<'c> {
    pub(in crate::channel) fn take<T: Message, S: Store<T> + 'static>(
        clause: &'c mut TakeClause<'_, T, S>,
    ) -> Self {
        AnyClause(clause)
    }

    pub(in crate::channel) fn put<T: Message, S: Store<T> + 'static>(
        clause: &'c mut PutClause<'_, T, S>,
    ) -> Self {
        AnyClause(clause)
    }
}

/// The held lock of a channel, whatever message type it carries.
pub(super) trait Held {
    /// The [`State`] that the lock guards.
    fn state(&mut self) -> &mut dyn Any;
}

impl<T: Message, S: Store<T> + 'static> Held for Guard<'_, T, S> {
    fn state(&mut self) -> &mut dyn Any {
        &mut **self
    }
}

/// The state of a clause's own channel.
fn known<T: Message, S: Store<T> + 'static>(state: &mut dyn Any) -> &mut State<T, S> {
    let state = state.downcast_mut();
    state.expect("a clause is shown the channel that it named")
}

/// One clause. Methods without a comment are as in [`Clauses`]. `state` is the state of its channel, which several
/// clauses may share.
trait AltsClause<'c>: Send {
    fn key(&self) -> u64;
    fn lock(&self) -> Box<dyn Held + 'c>;
    fn misses_value(&self) -> bool;
    /// Drops what a former run has taken. Called before any lock is taken, because the drop of a value may use a
    /// channel.
    fn clear(&mut self);
    fn seems_able(&self) -> bool;
    fn glance(&mut self, sure: bool) -> Quick<(), ()>;
    fn attempt(&mut self, state: &mut dyn Any) -> bool;
    fn settle(&mut self);
    fn join(&mut self, state: &mut dyn Any, clause: usize, request: &Arc<Request>) -> bool;
    fn leave(&mut self, state: &mut dyn Any, clause: usize, request: &Request);
    fn receive(&mut self);
    /// Gives back to the channel what another thread's commit has handed over (C9).
    fn give_back(&mut self, state: &mut dyn Any);
}

impl<'c, 'a: 'c, T: Message, S: Store<T> + 'static> AltsClause<'c> for TakeClause<'a, T, S> {
    fn key(&self) -> u64 {
        self.channel.key()
    }

    fn lock(&self) -> Box<dyn Held + 'c> {
        Box::new(self.channel.lock())
    }

    fn misses_value(&self) -> bool {
        false
    }

    fn clear(&mut self) {
        self.taken = None;
    }

    fn seems_able(&self) -> bool {
        !self.channel.front.seems_empty()
    }

    fn glance(&mut self, sure: bool) -> Quick<(), ()> {
        port::glance_take(self.channel, &mut self.taken, sure)
    }

    fn attempt(&mut self, state: &mut dyn Any) -> bool {
        port::try_take(known::<T, S>(state), &mut self.taken, &mut self.effects)
    }

    fn settle(&mut self) {
        self.effects.take().run();
    }

    fn join(&mut self, state: &mut dyn Any, clause: usize, request: &Arc<Request>) -> bool {
        port::join_take(known::<T, S>(state), clause, request, &mut self.answers)
    }

    fn leave(&mut self, state: &mut dyn Any, clause: usize, request: &Request) {
        known::<T, S>(state).takes.leave_clause(request, clause);
    }

    fn receive(&mut self) {
        let taken = self.answers.fetch().expect("a take that won was answered");
        self.taken = taken.map(|Handed { value, .. }| value);
    }

    fn give_back(&mut self, state: &mut dyn Any) {
        if let Some(Some(handed)) = self.answers.fetch() {
            known::<T, S>(state).give_back(handed, &mut self.effects);
        }
    }
}

impl<'c, 'a: 'c, T: Message, S: Store<T> + 'static> AltsClause<'c> for PutClause<'a, T, S> {
    fn key(&self) -> u64 {
        self.channel.key()
    }

    fn lock(&self) -> Box<dyn Held + 'c> {
        Box::new(self.channel.lock())
    }

    fn misses_value(&self) -> bool {
        self.slot.is_none()
    }

    fn clear(&mut self) {}

    fn seems_able(&self) -> bool {
        !self.channel.front.seems_full()
    }

    fn glance(&mut self, sure: bool) -> Quick<(), ()> {
        port::glance_put(self.channel, &mut self.slot, sure)
    }

    fn attempt(&mut self, state: &mut dyn Any) -> bool {
        port::try_put(known::<T, S>(state), &mut self.slot, &mut self.effects)
    }

    fn settle(&mut self) {
        self.effects.take().run();
    }

    fn join(&mut self, state: &mut dyn Any, clause: usize, request: &Arc<Request>) -> bool {
        let (answers, slot) = (&mut self.answers, &mut self.slot);
        port::join_put(known::<T, S>(state), clause, request, answers, slot)
    }

    fn leave(&mut self, state: &mut dyn Any, clause: usize, request: &Request) {
        if let Some(value) = known::<T, S>(state).puts.leave_clause(request, clause) {
            self.slot = value;
        }
    }

    fn receive(&mut self) {
        let put = self.answers.fetch().expect("a put that won was answered");
        self.slot = put.err().flatten();
    }

    /// The value of a put was delivered, or is put back in its slot.
    fn give_back(&mut self, _state: &mut dyn Any) {
        self.receive();
    }
}

/// The clauses of one run.
pub(super) struct Mixed<'r, 'c> {
    clauses: &'r mut [AnyClause<'c>],
    locking: Locking,
}

impl<'r, 'c> Mixed<'r, 'c> {
    pub(super) fn new(clauses: &'r mut [AnyClause<'c>]) -> Self {
        for clause in &mut *clauses {
            clause.0.clear();
        }
        let keys: Vec<u64> = clauses.iter().map(|clause| clause.0.key()).collect();
        Mixed {
            clauses,
            locking: Locking::new(&keys),
        }
    }

    /// Gives back to its channel what another thread's commit of that clause has handed over.
    pub(super) fn give_back(&mut self, held: &mut [Box<dyn Held + 'c>], clause: usize) {
        let state = held[self.locking.places[clause]].state();
        self.clauses[clause].0.give_back(state);
    }
}

impl<'c> Clauses for Mixed<'_, 'c> {
    type Held = Vec<Box<dyn Held + 'c>>;

    fn count(&self) -> usize {
        self.clauses.len()
    }

    fn missing_value(&self) -> Option<usize> {
        self.clauses
            .iter()
            .position(|clause| clause.0.misses_value())
    }

    fn lock(&mut self) -> Self::Held {
        let in_order = self.locking.clauses.iter();
        in_order
            .map(|clause| self.clauses[*clause].0.lock())
            .collect()
    }

    fn unlock(&mut self, held: Self::Held) {
        drop(held);
    }

    fn seems_able(&self, clause: usize) -> bool {
        self.clauses[clause].0.seems_able()
    }

    fn glance(&mut self, clause: usize, sure: bool) -> Quick<(), ()> {
        self.clauses[clause].0.glance(sure)
    }

    fn attempt(&mut self, held: &mut Self::Held, clause: usize) -> bool {
        let state = held[self.locking.places[clause]].state();
        self.clauses[clause].0.attempt(state)
    }

    fn settle(&mut self, clause: usize) {
        self.clauses[clause].0.settle();
    }

    fn join(&mut self, held: &mut Self::Held, clause: usize, request: &Arc<Request>) -> bool {
        let state = held[self.locking.places[clause]].state();
        self.clauses[clause].0.join(state, clause, request)
    }

    fn leave(&mut self, held: &mut Self::Held, clause: usize, request: &Request) {
        let state = held[self.locking.places[clause]].state();
        self.clauses[clause].0.leave(state, clause, request);
    }

    fn receive(&mut self, clause: usize) {
        self.clauses[clause].0.receive();
    }
}

/// Commits exactly one clause, or none when patience ends first.
pub(in crate::channel) fn run_mixed(
    clauses: &mut [AnyClause<'_>],
    order: Order,
    patience: Patience,
) -> Result<Winner, AltsError> {
    let mut indices: Vec<usize> = (0..clauses.len()).collect();
    run(&mut Mixed::new(clauses), &mut indices, order, patience)
}

debug_by_name! {
    [T: Message, S: Store<T>] TakeClause<'_, T, S>;
    [T: Message, S: Store<T>] PutClause<'_, T, S>;
    [] AnyClause<'_>;
}
