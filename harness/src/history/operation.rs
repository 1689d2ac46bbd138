//! One operation: its call, its clauses, its answer.

use crate::channel::{Order, Patience};

/// A value, as the number of its [`Token`](crate::check::Token).
pub type Value = u32;

/// One clause of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clause {
    /// Puts the value.
    Put {
        /// Index of the channel.
        channel: usize,
        /// What to put.
        value: Value,
    },
    /// Takes a value.
    Take {
        /// Index of the channel.
        channel: usize,
    },
}

impl Clause {
    /// A put.
    pub const fn put(channel: usize, value: Value) -> Clause {
        Clause::Put { channel, value }
    }

    /// A take.
    pub const fn take(channel: usize) -> Clause {
        Clause::Take { channel }
    }

    /// Index of its channel.
    pub const fn channel(self) -> usize {
        match self {
            Clause::Put { channel, .. } | Clause::Take { channel } => channel,
        }
    }
}

/// What was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Closes the channel of that index.
    Close(usize),
    /// An alts. A put, a take, an offer and a poll are alts of one clause, and [`Call`] has constructors for
    /// them: one mechanism specifies them all.
    Alts {
        /// The clauses, at least one.
        clauses: Vec<Clause>,
        /// In which order the clauses are tried.
        order: Order,
        /// How long it waits.
        patience: Patience,
    },
}

impl Call {
    /// A put that waits.
    pub fn put(channel: usize, value: Value) -> Call {
        Call::one(Clause::put(channel, value), Patience::Forever)
    }

    /// A take that waits.
    pub fn take(channel: usize) -> Call {
        Call::one(Clause::take(channel), Patience::Forever)
    }

    /// A put that does not wait.
    pub fn offer(channel: usize, value: Value) -> Call {
        Call::one(Clause::put(channel, value), Patience::Now)
    }

    /// A take that does not wait.
    pub fn poll(channel: usize) -> Call {
        Call::one(Clause::take(channel), Patience::Now)
    }

    /// An operation of one clause: with a deadline where `patience` has one.
    pub fn one(clause: Clause, patience: Patience) -> Call {
        Call::alts([clause], Order::Random, patience)
    }

    /// An alts.
    pub fn alts(clauses: impl Into<Vec<Clause>>, order: Order, patience: Patience) -> Call {
        Call::Alts {
            clauses: clauses.into(),
            order,
            patience,
        }
    }

    /// Its clauses; empty for a close.
    pub fn clauses(&self) -> &[Clause] {
        match self {
            Call::Close(_) => &[],
            Call::Alts { clauses, .. } => clauses,
        }
    }

    /// Whether it may wait, so that other operations can find it waiting.
    pub fn waits(&self) -> bool {
        matches!(
            self,
            Call::Alts {
                patience: Patience::Forever | Patience::Until(_),
                ..
            }
        )
    }

    /// Whether earlier clauses have priority over later ones.
    pub fn has_priority(&self) -> bool {
        matches!(
            self,
            Call::Alts {
                order: Order::Priority,
                ..
            }
        )
    }
}

/// The answer to a call. Clauses are named by index; an operation with a single clause has index 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The put took effect: `true`.
    Accepted {
        /// Which clause.
        clause: usize,
    },
    /// The put found its channel closed: `false`, and the value was given back.
    Refused {
        /// Which clause.
        clause: usize,
    },
    /// The take received a value.
    Took {
        /// Which clause.
        clause: usize,
        /// The value.
        value: Value,
    },
    /// The take found its channel closed and empty.
    Ended {
        /// Which clause.
        clause: usize,
    },
    /// It would have had to wait, but was not allowed to; the default of an alts.
    WouldWait,
    /// The deadline passed.
    TimedOut,
    /// A close is done.
    Closed,
    /// Its future was dropped; the caller does not know the outcome.
    Cancelled,
    /// No answer yet.
    Pending,
}

/// A call and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The calling thread.
    pub thread: usize,
    /// The call.
    pub call: Call,
    /// The answer.
    pub answer: Answer,
    /// When it was called.
    pub invoked: u64,
    /// When it was answered; [`u64::MAX`] for one that is pending.
    pub returned: u64,
}
