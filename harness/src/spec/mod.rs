//! The specification of channels and alts, as a program: a plain sequential state, and the steps that an
//! execution is made of. A history is legal if steps can be placed inside its operations' intervals so that
//! each step may be taken when its turn comes and each operation's outcome is what its caller was answered.
//!
//! The state: per channel its line of values and whether it was closed ([`Channel`]); per operation what it has
//! asked for and its outcome, set once ([`Progress`]). The steps ([`Step`]):
//!
//! - *Request*: every clause that waits has a moment of its own at which others begin to find it. An alts
//!   asks clause by clause; one request for all of them would reject core.async, which locks one channel after the
//!   other. Operations that do not wait ask for nothing, so they never meet each other (C5).
//! - *Commit*: the one moment at which an operation takes effect, on one clause: a put finds room
//!   ([`Step::Store`]), a take finds a value ([`Step::Receive`]), two operations meet on a rendezvous and both have
//!   their outcome in one step ([`Step::Meet`]), or the channel is closed ([`Step::Refuse`], [`Step::End`]). A put
//!   that asked before the close may still be taken after it (C6). Nobody meets himself (A4).
//! - *Look*: a clause is seen unable. Who gives up or prefers a later clause needs that at the same moment where
//!   the strict claims are made, and at some moment of the call otherwise (A5, A6, A9, C8).
//! - *Reserve*: room that becomes free may belong to a put before its value is there. Where the put is cancelled
//!   then (C9), others may have seen that: an offer is refused, and a poll finds nothing.
//! - *Give up*, *cancel* (C9) and *close*.
//!
//! Timers, limiters and pipelines have specifications of their own ([`timer`], [`limiter`], [`pipeline`]): what is seen
//! of them goes step by step through a sequential state, which answers the first [`Violation`].
//!
//! What clauses are able to, and what priority and default ask for, is in `alts.rs`. What a transform makes of the puts
//! ([`transform`]) stands apart from the search. Not specified: permits and batches, refusals for too many waiters, the order among those who wait (C4: from outside, who asked first is known
//! only of callers that were seen suspended), and how long a deadline is away.

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
    /// Others can find this clause from now on.
    Request(Port),
    /// This clause is seen unable.
    Look(Port),
    /// A put leaves its value in the channel.
    Store(Port),
    /// A put that will be cancelled holds room for its value.
    Reserve(Port),
    /// A take has the first value in line.
    Receive(Port),
    /// A put and a take meet on a rendezvous.
    Meet {
        /// Who puts.
        put: Port,
        /// Who takes.
        take: Port,
    },
    /// A put is refused by a closed channel.
    Refuse(Port),
    /// A take is told that the channel is closed and has nothing left.
    End(Port),
    /// The operation would have to wait longer than it is willing to.
    GiveUp(usize),
    /// The future of the operation is dropped: without effect, or with a value or room given back.
    Cancel(usize),
    /// The channel is closed.
    Close(usize),
}

impl Step {
    /// The operations that may be decided by it: one, twice, or two.
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

/// How far an operation has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Progress {
    /// What it came to, once.
    pub outcome: Option<Answer>,
    /// The clauses that others can find, as bits. Of a put clause on a closed channel: that it asked before the
    /// close.
    pub requested: u64,
    /// The clauses that were seen unable.
    pub looked: u64,
    /// A take that was handed a value, or a put that was given room, and that will be cancelled.
    pub holds: bool,
}

/// Where an execution stands.
#[derive(Clone, Debug)]
pub struct State {
    /// The channels.
    pub channels: Vec<Channel>,
    /// The operations.
    pub operations: Vec<Progress>,
    fingerprint: u128,
}

/// The operations that steps speak of, on their channels, under their rules.
#[derive(Clone, Debug)]
pub struct Spec {
    channels: Vec<Storage>,
    calls: Vec<Call>,
    /// Operations that are cancelled in the end, as far as they were not done before.
    cancelled: Vec<bool>,
    rules: Rules,
}

impl Spec {
    /// The specification of so many channels and calls; `cancelled` says of each call whether its future is
    /// dropped in the end.
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

    /// Before the first step: every channel open and empty, nothing asked for.
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

    /// Takes the step, if it is one that may be taken now; whether it was.
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

    /// Whether the step may be taken now.
    pub fn may(&self, state: &State, step: Step) -> bool {
        match step {
            Step::Request(port @ (op, clause)) => {
                let open = !state.channels[self.clause(port).channel()].closed;
                let is_put = matches!(self.clause(port), Clause::Put { .. });
                self.is_undecided(state, op)
                    && self.calls[op].waits()
                    && state.operations[op].requested & 1 << clause == 0
                    // What a put asks for after the close is to be refused, and no request of it is found.
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

    /// What a step that may be taken does.
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

    /// Two states with the same fingerprint are the same state, but for one chance in 2^128 a pair. What an
    /// operation came to is not part of it, only that it has an outcome: no later step asks.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }
}
