//! When a clause is able, and the consequences for priority, default and deadline.

use super::{Port, Spec, State};
use crate::channel::Patience;
use crate::history::{Call, Clause, Storage};

impl Spec {
    /// Whether the operation may still take effect.
    pub(super) fn is_undecided(&self, state: &State, op: usize) -> bool {
        let progress = &state.operations[op];
        progress.outcome.is_none() && !progress.holds
    }

    /// Whether other operations can find this clause. For a put on a closed channel: whether it requested before the
    /// close.
    pub(super) fn has_requested(&self, state: &State, (op, clause): Port) -> bool {
        state.operations[op].requested & 1 << clause != 0
    }

    /// Whether the clause could commit now. A clause of a waiting operation that was not requested yet is treated as if
    /// it were requested now.
    pub fn is_able(&self, state: &State, port: Port) -> bool {
        let op = port.0;
        match self.clause(port) {
            Clause::Put { channel, .. } => {
                let there = &state.channels[channel];
                if there.closed && !self.has_requested(state, port) {
                    return true;
                }
                let refusable = there.closed && !self.rules.pending_puts_survive;
                refusable
                    || there.has_room(self.channels[channel])
                    || (self.meets(channel)
                        && there.first().is_none()
                        && self.another_waits(state, op, Clause::take(channel)))
            }
            Clause::Take { channel } => {
                let there = &state.channels[channel];
                there.first().is_some()
                    || (self.meets(channel)
                        && self.another_waits(state, op, Clause::put(channel, 0)))
                    || (there.closed && self.nothing_left(state, channel, op))
            }
        }
    }

    /// Whether puts and takes of that channel meet without storing.
    fn meets(&self, channel: usize) -> bool {
        self.channels[channel] == Storage::Rendezvous
    }

    /// Whether another operation than `op` has a clause requested that puts to, or takes from, the same
    /// channel as `like`.
    fn another_waits(&self, state: &State, op: usize, like: Clause) -> bool {
        let is_alike = |clause: &Clause| {
            clause.channel() == like.channel()
                && matches!(clause, Clause::Put { .. }) == matches!(like, Clause::Put { .. })
        };
        (0..self.calls.len()).any(|other| {
            other != op
                && state.operations[other].requested != 0
                && self.is_undecided(state, other)
                && self.calls[other]
                    .clauses()
                    .iter()
                    .enumerate()
                    .any(|(at, clause)| is_alike(clause) && self.has_requested(state, (other, at)))
        })
    }

    /// Whether a take of `op` may be told that a closed channel has nothing left.
    pub(super) fn nothing_left(&self, state: &State, channel: usize, op: usize) -> bool {
        let buffered = state.channels[channel].first().is_some() && self.rules.keeps_buffered;
        let waiting = self.rules.pending_puts_survive
            && self.another_waits(state, op, Clause::put(channel, 0));
        !buffered && !waiting
    }

    /// Whether the put may leave its value in the channel.
    pub(super) fn may_store(&self, state: &State, port: Port) -> bool {
        let Clause::Put { channel, .. } = self.clause(port) else {
            return false;
        };
        let there = &state.channels[channel];
        self.is_undecided(state, port.0)
            && there.has_room(self.channels[channel])
            && (!there.closed || self.has_requested(state, port))
            && self.may_prefer(state, port)
    }

    /// Whether these two may hand over a value: they belong to two operations (A4), one of them was found waiting by
    /// the other (C5), and no value is in line before this one.
    pub(super) fn may_meet(&self, state: &State, put: Port, take: Port) -> bool {
        let (Clause::Put { channel, .. }, Clause::Take { channel: other }) =
            (self.clause(put), self.clause(take))
        else {
            return false;
        };
        let there = &state.channels[channel];
        put.0 != take.0
            && channel == other
            && self.meets(channel)
            && self.is_undecided(state, put.0)
            && self.is_undecided(state, take.0)
            && there.first().is_none()
            && (self.has_requested(state, put)
                || (self.has_requested(state, take) && !there.closed))
            && self.may_prefer(state, put)
            && self.may_prefer(state, take)
    }

    /// Whether the operation may commit on this clause and not on an earlier one (A5).
    pub(super) fn may_prefer(&self, state: &State, (op, clause): Port) -> bool {
        if !self.calls[op].has_priority() {
            return true;
        }
        let looked = state.operations[op].looked;
        (0..clause).all(|earlier| {
            let was_unable = !self.rules.strict_priority && looked & 1 << earlier != 0;
            was_unable || !self.is_able(state, (op, earlier))
        })
    }

    /// Whether an operation that does not wait, or no longer waits, may be answered so (A6, A9, C5, C8).
    pub(super) fn may_give_up(&self, state: &State, op: usize) -> bool {
        let Call::Alts {
            clauses,
            patience: Patience::Until(_) | Patience::Now,
            ..
        } = &self.calls[op]
        else {
            return false;
        };
        let strict = self.rules.strict_default && !self.calls[op].waits();
        let looked = state.operations[op].looked;
        (0..clauses.len()).all(|clause| {
            let was_unable = !strict && looked & 1 << clause != 0;
            was_unable || !self.is_able(state, (op, clause))
        })
    }

    /// Whether an earlier look can matter to the operation: its answer may depend on having seen a clause unable at an
    /// earlier moment.
    pub fn may_need_to_look(&self, op: usize) -> bool {
        let clauses = self.calls[op].clauses().len();
        let weak_priority = self.calls[op].has_priority() && !self.rules.strict_priority;
        let weak_end = self.calls[op].waits() || !self.rules.strict_default;
        clauses > 1 && (weak_priority || weak_end)
    }

    /// Whether an operation can be left waiting forever: it is one that waits, and none of its clauses is able once it
    /// has requested all of them.
    pub fn can_rest(&self, state: &State, op: usize) -> bool {
        self.calls[op].waits()
            && (0..self.calls[op].clauses().len()).all(|clause| !self.is_able(state, (op, clause)))
    }
}
