//! `ordered_locks`: Go's channels. An alts locks all its channels at once, and so sees one moment of them.
//!
//! All of that is the engine's; the values lie in a buffer behind the channel's lock.
//!
//! Where it differs from Go: closed ports are answered instead of panicking, puts that wait at a close are still taken
//! (C6), waiters are bounded (C7), and a take may be a future or a callback, whose value finds its way back (C9).
//!
//! Source: Go's `runtime/chan.go` and `runtime/select.go`, version 1.22.

mod family;

use super::engine::Buffer;
use super::halves;

pub use super::engine::{
    AnyClause, ChannelOver, MAX_WAITERS, Permit, Prepared, PutClause, PutFuture, TakeClause,
    TakeFuture,
};
pub use family::OrderedLocks;

/// A channel: the one handle that puts, takes and closes. Clones are the same channel, and two handles
/// compare by identity (C13).
pub type Channel<T> = ChannelOver<T, Buffer<T>>;
/// The half that puts.
pub type Producer<T> = halves::Producer<Channel<T>>;
/// The half that takes.
pub type Consumer<T> = halves::Consumer<Channel<T>>;
/// A producer that keeps nothing open.
pub type WeakProducer<T> = halves::WeakProducer<Channel<T>>;
