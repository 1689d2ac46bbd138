//! Tier two: can what happened on one channel be explained as a queue, first in, first out? In time
//! O(n log n).
//!
//! Every operation is an interval, from its invocation to its return; explaining a history means to find a
//! moment for each operation, inside its interval, such that a queue that does them one after the other
//! gives the same answers (linearizability). Values are distinct, so a put and its take know each other.
//! Each statement below is *necessary*: what is rejected cannot be explained. Stamps that are equal count
//! as simultaneous, in the order that suits the implementation.
//!
//! **First in, first out** (C2). No value is taken before its put began, and no two values x, y have the put
//! of x return before that of y begins, and the take of y before that of x (or x is never taken). That is also
//! *sufficient*. First let a put end no later than its take and a take begin no earlier than its put,
//! which any explanation obeys. Say x → y where an interval of x ends before the same one of y begins. An
//! order of the values that respects → is an explanation: let each put, and then each take, happen once
//! everything before it in that order has begun; that is inside its interval, or some → would point
//! backwards. Such an order exists unless → has a cycle, and the shortest cycle has two values: in a longer
//! one, two steps by puts a → b and c → d can be exchanged for a → d or for c → b, whichever of a and c was put
//! first, and so the cycle made shorter. (Henzinger, Sezgin and Vafeiadis, "Aspect-oriented
//! linearizability proofs", CONCUR 2013, have the patterns; Abdulla and others, "Efficient Linearizability
//! Monitoring", PLDI 2025, arXiv 2509.17795, time O(n log n) and the history of flawed proofs.)
//!
//! **Empty** (C5, C2). Between the return of its put and the invocation of its take a value is certainly in
//! the queue. An answer "would wait" or "closed" needs a moment that no value covers so. That is sufficient as
//! well: such a moment parts the values into those put before it, which have all begun to be taken, and the
//! others, and makes no order between two values of one part. So the moments of several answers may be chosen
//! each for itself, and what remains is one question about the close.
//!
//! **Close** (C6). One moment, inside the first close: no later than any answer "closed", after the
//! invocation of every put that was answered `true`, and after every answer "would wait"; or else, for a poll
//! during which puts were under way, after the first of these was called, since one that asked before the close may
//! put its value after it, and until then a poll would wait.
//!
//! **Capacity** (C3, C5). First every interval is narrowed to what → leaves of it. Then not more values than
//! there is room are certainly in the queue at one moment. A value of which that is never certain, since its
//! take begins before its put returns, is there at some moment between the two all the same, so not all of
//! that time may the room be certainly taken by others. Where an offer was refused as full, as many values as
//! there is room can have been in the queue, or held room there (C9: puts without an answer). With room for one, puts and takes are judged exactly: x must then be
//! first where its put returns before the take of y begins; → is part of that, and in a shortest cycle of it, too,
//! there are two values, since the one whose put returns first is before every value that any other is
//! before. With more room, which of several overlapping values come first can decide, and tier three has to
//! search.
//!
//! **Rendezvous** (C1). A put and its take overlap. Nothing else binds them, so this is exact; "closed" must
//! not be answered before the last value was handed over, since its put must have waited at the close.
//!
//! Exact, then: unbounded and rendezvous channels, with empty answers and a close; puts and takes where there
//! is room for one. Not exact: other fixed buffers, and offers refused as full; dropping and sliding buffers,
//! where a value that nobody took counts as dropped; and histories with [`Outcome::TakeUnknown`]. The
//! tests compare all of it with a search through every explanation, and state how much is missed.
//!
//! Outside: cancelled takes whose value was handed back (C9), and promises.

mod close;
mod history;
mod order;
mod queue;
mod rendezvous;
mod room;

#[cfg(test)]
mod tests;

pub use history::{History, Malformed};

use std::fmt;

use super::Violation;

/// The return stamp of an operation that has not returned.
pub const NEVER: u64 = u64::MAX;

/// What was asked of a channel, and what it answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A put or an offer that was answered `true`; or that was never answered, in which case its value may
    /// or may not have arrived. Values are distinct.
    Put(u64),
    /// An offer that was answered "would wait".
    PutFull,
    /// A put or an offer that was answered `false`.
    PutClosed,
    /// A take or a poll that was answered with a value.
    Take(u64),
    /// A poll that was answered "would wait".
    TakeEmpty,
    /// A take or a poll that was answered "closed".
    TakeClosed,
    /// A take that was never answered: it may have a value that nobody has seen since.
    TakeUnknown,
    /// A close, or the drop of the last handle that closes.
    Close,
}

/// One operation on the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// Who asked, for the report.
    pub thread: u32,
    /// When it was called, in any unit: stamps are only compared.
    pub invoke: u64,
    /// When it was answered, not before `invoke`; [`NEVER`] if it was not.
    pub returned: u64,
    /// What it did.
    pub outcome: Outcome,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outcome {
            Outcome::Put(value) => write!(f, "put({value})")?,
            Outcome::PutFull => f.write_str("an offer answered \"would wait\"")?,
            Outcome::PutClosed => f.write_str("a put answered false")?,
            Outcome::Take(value) => write!(f, "take of {value}")?,
            Outcome::TakeEmpty => f.write_str("a poll answered \"would wait\"")?,
            Outcome::TakeClosed => f.write_str("a take answered \"closed\"")?,
            Outcome::TakeUnknown => f.write_str("a take without an answer")?,
            Outcome::Close => f.write_str("close")?,
        }
        write!(f, " by thread {} [{}, ", self.thread, self.invoke)?;
        match self.returned {
            NEVER => f.write_str("never]"),
            returned => write!(f, "{returned}]"),
        }
    }
}

/// Why a history cannot be explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The broken statement, and the values and operations that break it.
    pub violation: Violation,
    /// Which operations, by their place in the history: as few as show the fault.
    pub witness: Vec<usize>,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.violation.fmt(f)
    }
}

/// A stretch of time that includes both of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    from: u64,
    to: u64,
}
