//! `ordered_locks`: Go's channels. An alts locks all its channels at once, and so sees one moment of them.
//!
//! The engine does all of this. The values are stored in a buffer behind the channel's lock.
//!
//! It differs from Go in these points: operations on closed channels are answered and do not panic. Puts that wait at a
//! close can still be taken (C6). The number of waiting requests is bounded (C7). A take may be a future or a callback,
//! and the value of a cancelled one goes back to the channel (C9).
//!
//! Source: Go's `runtime/chan.go` and `runtime/select.go`, version 1.22.

mod family;

use super::engine::{Buffer, State};
use super::handle::Handle;
use super::{halves, permits};

pub use super::design::MAX_WAITERS;
pub use super::engine::{AnyClause, Prepared, PutClause, PutFuture, TakeClause, TakeFuture};
pub use family::OrderedLocks;

type Core<T> = State<T, Buffer<T>>;

/// A channel: the one handle that puts, takes and closes.
pub type Channel<T> = Handle<Core<T>>;
/// The half that puts.
pub type Producer<T> = halves::Producer<Core<T>>;
/// The half that takes.
pub type Consumer<T> = halves::Consumer<Core<T>>;
/// A producer that keeps nothing open.
pub type WeakProducer<T> = halves::WeakProducer<Core<T>>;
/// Room for one value. Dropping it gives the room back.
pub type Permit<'a, T> = permits::Permit<'a, Core<T>>;
