//! Tier two: judges in time O(n log n) whether the operations on one channel can be explained as a first-in, first-out
//! queue.
//!
//! Every operation is an interval, from its invocation to its return. To explain a history is to find one moment in
//! each interval such that a sequential queue, doing the operations at these moments, gives the same answers
//! (linearizability). Values are distinct, so each put has one take. Each rule below is *necessary*: a rejected history
//! cannot be explained. Equal stamps count as simultaneous, in the order that favours the implementation.
//!
//! **First in, first out** (C2). No value is taken before its put began. No two values x, y have the put of x return
//! before that of y begins, and the take of y return before that of x begins (or x never taken). This rule is also
//! *sufficient*:
//!
//! 1. Let a put end no later than its take, and a take begin no earlier than its put. Any explanation obeys this.
//! 2. Write x → y if the put (or the take) of x ends before that of y begins. An order of the values that respects → is
//!    an explanation: let each put, and then each take, happen once everything before it in that order has begun. That
//!    moment is inside its interval, or some → would point backwards.
//! 3. Such an order exists unless → has a cycle. The shortest cycle has two values: in a longer one, two steps by puts
//!    a → b and c → d can be exchanged for a → d or for c → b, whichever of a and c was put first, which shortens the
//!    cycle.
//!
//! Henzinger, Sezgin and Vafeiadis, "Aspect-oriented linearizability proofs", CONCUR 2013, have the patterns. Abdulla
//! and others, "Efficient Linearizability Monitoring", PLDI 2025, arXiv 2509.17795, have time O(n log n) and the
//! history of flawed proofs.
//!
//! **Empty** (C5, C2). Between the return of its put and the invocation of its take a value is certainly in the queue.
//! An answer "would wait" or "closed" needs a moment at which no value is certainly there. This is also sufficient.
//! Such a moment divides the values into two parts: those put before it, with takes that have all begun, and the rest.
//! It orders no two values of one part. So the moments of several answers can be chosen independently. What remains is
//! the question of the close.
//!
//! **Close** (C6). The close happens at one moment inside the first close operation. That moment is no later than any
//! answer "closed", and after the invocation of every put that was answered `true`. It is also after every answer
//! "would wait", with one exception. A put that requested before the close may deliver its value after it, and until
//! then a poll would wait. So if puts were under way during such a poll, the moment only has to be after the first of
//! them was called.
//!
//! **Capacity** (C3, C5). First every interval is narrowed to what → leaves of it. Then the values that are certainly
//! in the queue at one moment are at most as many as there is room. A value may never be certainly there, because its
//! take begins before its put returns. It is still there at some moment between the two, so other values cannot fill
//! the room for all of that time. When an offer was refused as full, as many values as there is room can have been in
//! the queue, or had room reserved there (C9: puts without an answer).
//!
//! With room for one, puts and takes are judged exactly. Then x must be first if its put returns before the take of y
//! begins. This relation includes →, and its shortest cycles have two values too: the value with the first return of a
//! put precedes every value that any other precedes. With more room the order of several overlapping values can decide,
//! and only tier three searches for it.
//!
//! **Rendezvous** (C1). A put and its take overlap. Nothing else binds them, so this is exact. "Closed" must not be
//! answered before the last value was handed over, since its put must have waited at the close.
//!
//! So these are exact: unbounded and rendezvous channels, with empty answers and a close; puts and takes with room for
//! one. These are not exact:
//!
//! - other fixed buffers, and offers refused as full;
//! - dropping and sliding buffers, where a value that was never taken counts as dropped;
//! - histories with [`Outcome::TakeUnknown`].
//!
//! The tests compare all of it with a search through every explanation, and state how many illegal histories are
//! missed.
//!
//! Not covered: cancelled takes that handed their value back (C9), and promises.

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

/// An operation on a channel, and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A put or an offer that was answered `true`, or that was never answered. In that case its value may or may not
    /// have arrived. Values are distinct.
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
    /// A take that was never answered: it may have taken a value.
    TakeUnknown,
    /// A close, or the drop of the last handle that closes.
    Close,
}

/// One operation on the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// The calling thread, for the report.
    pub thread: u32,
    /// When it was called, in any unit; stamps are only compared.
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
    /// The operations that show the fault, by their index in the history; as few as possible.
    pub witness: Vec<usize>,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.violation.fmt(f)
    }
}

/// A closed interval of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    from: u64,
    to: u64,
}
