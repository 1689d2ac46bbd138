//! The specification of channels and alts as a program: a sequential state, and the steps of an execution. A history is
//! legal if steps can be placed inside its operations' intervals such that each step is enabled when it is taken, and
//! each operation's outcome is the answer that its caller received.
//!
//! The state has, per channel, its line of values and whether it was closed ([`Channel`]). Per operation it has the
//! requested clauses and the outcome, which is set once ([`Progress`]). The steps ([`Step`]):
//!
//! - *Request*: for every waiting clause, the moment from which other operations can find it. An alts requests clause
//!   by clause. A single request for all clauses would reject core.async, which locks one channel after the other.
//!   Operations that do not wait request nothing, so they never meet each other (C5).
//! - *Commit*: the one moment at which an operation takes effect, on one clause. A put finds room ([`Step::Store`]), a
//!   take finds a value ([`Step::Receive`]), or the channel is closed ([`Step::Refuse`], [`Step::End`]). On a
//!   rendezvous two operations meet, and one step decides both ([`Step::Meet`]). A put that requested before the close
//!   may still be taken after it (C6). An operation never meets itself (A4).
//! - *Look*: a clause is seen unable. An operation that gives up or prefers a later clause needs this: at the same
//!   moment under the strict claims, otherwise at some moment of the call (A5, A6, A9, C8).
//! - *Reserve*: room that becomes free may belong to a put before its value is there. If the put is then cancelled
//!   (C9), other operations may have seen that: an offer is refused, and a poll finds nothing.
//! - *Give up*, *cancel* (C9) and *close*.
//!
//! Timers, limiters and pipelines have specifications of their own ([`timer`], [`limiter`], [`pipeline`]). Observations
//! of them pass step by step through a sequential state, which returns the first [`Violation`].
//!
//! `alts.rs` defines when clauses are able, and what priority and default require. The effect of a transform
//! ([`transform`]) is separate from the search.
//!
//! Not specified:
//!
//! - permits and batches;
//! - refusals for too many waiters;
//! - the order among waiters (C4): from outside, the order of requests is known only for callers that were seen
//!   suspended;
//! - how far away a deadline is.

mod alts;
mod channel;
mod fingerprint;
pub mod limiter;
pub mod pipeline;
mod rules;
pub mod timer;
pub mod transform;
mod violation;

use crate::history::{Answer, Call, Clause, History, Storage, Value};
use fingerprint::Channels;

pub use channel::{Channel, Place};
pub use rules::Rules;
pub use violation::Violation;

/// A clause of an operation, both by index.
pub type Port = (usize, usize);

/// A step of an execution. Operations and clauses are named by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Other operations can find this clause from now on.
    Request(Port),
    /// This clause is seen unable.
    Look(Port),
    /// A put leaves its value in the channel.
    Store(Port),
    /// A put that will be cancelled holds room for its value.
    Reserve(Port),
    /// A take receives the first value in line.
    Receive(Port),
    /// A put and a take meet on a rendezvous.
    Meet {
        /// The put.
        put: Port,
        /// The take.
        take: Port,
    },
    /// A put is refused by a closed channel.
    Refuse(Port),
    /// A take is told that the channel is closed and has nothing left.
    End(Port),
    /// The operation would have to wait longer than its patience allows.
    GiveUp(usize),
    /// The future of the operation is dropped: without effect, or with a value or room given back.
    Cancel(usize),
    /// The channel is closed.
    Close(usize),
}

impl Step {
    /// The operations that the step may decide: one (twice), or two.
    pub fn operations(self) -> [usize; 2] {
        match self {
            Step::Request((op, _))
            | Step::Look((op, _))
            | Step::Store((op, _))
            | Step::Reserve((op, _))
            | Step::Receive((op, _))
            | Step::Refuse((op, _))
            | Step::End((op, _))
            | Step::GiveUp(op)
            | Step::Cancel(op)
            | Step::Close(op) => [op, op],
            Step::Meet { put, take } => [put.0, take.0],
        }
    }
}

/// The progress of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Progress {
    /// The outcome; set once.
    pub outcome: Option<Answer>,
    /// The clauses that other operations can find, as bits. For a put clause on a closed channel: that it requested
    /// before the close.
    pub requested: u64,
    /// The clauses that were seen unable.
    pub looked: u64,
    /// Whether it will be cancelled and holds a value (a take) or room (a put).
    pub holds: bool,
}

/// The state of an execution.
#[derive(Clone, Debug)]
pub struct State {
    /// The channels.
    pub channels: Vec<Channel>,
    /// The operations.
    pub operations: Vec<Progress>,
    fingerprint: u128,
}

/// The operations to which steps refer, with their channels and rules.
#[derive(Clone, Debug)]
pub struct Spec {
    channels: Vec<Storage>,
    calls: Vec<Call>,
    /// Operations that are cancelled at the end, unless they are done before.
    cancelled: Vec<bool>,
    rules: Rules,
}

impl Spec {
    /// The specification of these channels and calls. The flag of a call says whether its future is dropped at the end.
    ///
    /// # Panics
    /// When a call has more than 64 clauses.
    pub fn new(channels: Vec<Storage>, calls: Vec<(Call, bool)>, rules: Rules) -> Spec {
        let (calls, cancelled): (Vec<Call>, Vec<bool>) = calls.into_iter().unzip();
        assert!(
            calls.iter().all(|call| call.clauses().len() <= 64),
            "a set of clauses has 64 bits"
        );
        Spec {
            channels,
            calls,
            cancelled,
            rules,
        }
    }

    /// The specification of a history's operations.
    ///
    /// # Panics
    /// As [`Spec::new`].
    pub fn of(history: &History, rules: Rules) -> Spec {
        let call = |o: &crate::history::Operation| (o.call.clone(), o.answer == Answer::Cancelled);
        let calls = history.operations.iter().map(call).collect();
        Spec::new(history.channels.clone(), calls, rules)
    }

    /// The state before the first step: every channel open and empty, nothing requested.
    pub fn start(&self) -> State {
        State {
            channels: vec![Channel::default(); self.channels.len()],
            operations: vec![Progress::default(); self.calls.len()],
            fingerprint: 0,
        }
    }

    /// The calls.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// How a channel stores values.
    pub fn storage(&self, channel: usize) -> Storage {
        self.channels[channel]
    }

    fn clause(&self, (op, clause): Port) -> Clause {
        self.calls[op].clauses()[clause]
    }

    /// Takes the step if it is enabled; returns whether it was.
    pub fn apply(&self, state: &mut State, step: Step) -> bool {
        if !self.may(state, step) {
            return false;
        }
        let touched = self.touched(step);
        let before = state.part(&touched);
        self.take_effect(state, step);
        state.fingerprint ^= before ^ state.part(&touched);
        true
    }

    /// Whether the step is enabled.
    pub fn may(&self, state: &State, step: Step) -> bool {
        match step {
            Step::Request(port @ (op, clause)) => {
                let open = !state.channels[self.clause(port).channel()].closed;
                let is_put = matches!(self.clause(port), Clause::Put { .. });
                self.is_undecided(state, op)
                    && self.calls[op].waits()
                    && state.operations[op].requested & 1 << clause == 0
                    // A put after the close is refused, and no request of it is found.
                    && (open || !is_put)
            }
            Step::Look(port @ (op, clause)) => {
                self.is_undecided(state, op)
                    && state.operations[op].looked & 1 << clause == 0
                    && !self.is_able(state, port)
            }
            Step::Store(port) => self.may_store(state, port),
            Step::Reserve(port @ (op, _)) => self.cancelled[op] && self.may_store(state, port),
            Step::Receive(port @ (op, _)) => {
                let Clause::Take { channel } = self.clause(port) else {
                    return false;
                };
                self.is_undecided(state, op)
                    && state.channels[channel].first().is_some()
                    && self.may_prefer(state, port)
            }
            Step::Meet { put, take } => self.may_meet(state, put, take),
            Step::Refuse(port @ (op, _)) => {
                let Clause::Put { channel, .. } = self.clause(port) else {
                    return false;
                };
                self.is_undecided(state, op)
                    && state.channels[channel].closed
                    && !(self.rules.pending_puts_survive && self.has_requested(state, port))
                    && self.may_prefer(state, port)
            }
            Step::End(port @ (op, _)) => {
                let Clause::Take { channel } = self.clause(port) else {
                    return false;
                };
                self.is_undecided(state, op)
                    && state.channels[channel].closed
                    && self.nothing_left(state, channel, op)
                    && self.may_prefer(state, port)
            }
            Step::GiveUp(op) => self.is_undecided(state, op) && self.may_give_up(state, op),
            Step::Cancel(op) => state.operations[op].outcome.is_none() && self.cancelled[op],
            Step::Close(op) => {
                state.operations[op].outcome.is_none() && matches!(self.calls[op], Call::Close(_))
            }
        }
    }

    /// The effect of an enabled step.
    fn take_effect(&self, state: &mut State, step: Step) {
        match step {
            Step::Request((op, clause)) => state.operations[op].requested |= 1 << clause,
            Step::Look((op, clause)) => state.operations[op].looked |= 1 << clause,
            Step::Store(port @ (op, clause)) => {
                let channel = self.clause(port).channel();
                let value = self.value(port);
                state.channels[channel].store(self.channels[channel], value);
                state.decide(op, Answer::Accepted { clause });
            }
            Step::Reserve(port @ (op, _)) => {
                state.channels[self.clause(port).channel()].reserve(op);
                state.operations[op].holds = true;
            }
            Step::Receive(port @ (op, clause)) => {
                let channel = self.clause(port).channel();
                let holder = self.cancelled[op].then_some(op);
                let value = state.channels[channel].take(self.channels[channel], holder);
                let value = value.expect("asked before");
                self.give(state, (op, clause), value);
            }
            Step::Meet { put, take } => {
                let value = self.value(put);
                state.decide(put.0, Answer::Accepted { clause: put.1 });
                if self.cancelled[take.0] {
                    state.channels[self.clause(take).channel()].hand(value, take.0);
                }
                self.give(state, take, value);
            }
            Step::Refuse((op, clause)) => state.decide(op, Answer::Refused { clause }),
            Step::End((op, clause)) => state.decide(op, Answer::Ended { clause }),
            Step::GiveUp(op) => state.decide(
                op,
                if self.calls[op].waits() {
                    Answer::TimedOut
                } else {
                    Answer::WouldWait
                },
            ),
            Step::Cancel(op) => {
                if state.operations[op].holds {
                    for clause in self.calls[op].clauses() {
                        state.channels[clause.channel()].give_back(op);
                    }
                }
                state.decide(op, Answer::Cancelled);
            }
            Step::Close(op) => {
                if let Call::Close(channel) = self.calls[op] {
                    state.channels[channel].closed = true;
                }
                state.decide(op, Answer::Closed);
            }
        }
    }

    fn give(&self, state: &mut State, (op, clause): Port, value: Value) {
        if self.cancelled[op] {
            state.operations[op].holds = true;
        } else {
            state.decide(op, Answer::Took { clause, value });
        }
    }

    fn value(&self, port: Port) -> Value {
        match self.clause(port) {
            Clause::Put { value, .. } => value,
            Clause::Take { .. } => unreachable!("a put was asked for"),
        }
    }

    fn touched(&self, step: Step) -> fingerprint::Touched {
        let channels = match step {
            Step::Request(port)
            | Step::Look(port)
            | Step::Store(port)
            | Step::Reserve(port)
            | Step::Receive(port)
            | Step::Refuse(port)
            | Step::End(port)
            | Step::Meet { put: port, .. } => Channels::One([self.clause(port).channel()]),
            Step::GiveUp(_) => Channels::Many(Vec::new()),
            Step::Cancel(op) => {
                let clauses = self.calls[op].clauses();
                let mut channels: Vec<usize> = clauses.iter().map(|c| c.channel()).collect();
                channels.sort_unstable();
                channels.dedup();
                Channels::Many(channels)
            }
            Step::Close(op) => match self.calls[op] {
                Call::Close(channel) => Channels::One([channel]),
                Call::Alts { .. } => Channels::Many(Vec::new()),
            },
        };
        (step.operations(), channels)
    }
}

impl State {
    fn decide(&mut self, op: usize, outcome: Answer) {
        self.operations[op].outcome = Some(outcome);
    }

    /// States with the same fingerprint are equal, except with probability 2^-128 per pair. The fingerprint includes
    /// whether an operation has an outcome, but not which one: no later step depends on it.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }
}
