//! `lock_free`: while nobody waits, a put is one compare-and-swap and a take another, with no lock and no list of
//! waiters in sight; as soon as somebody waits, the channel is one of [`ordered_locks`](super::ordered_locks).
//!
//! | buffer | its front |
//! | --- | --- |
//! | `Fixed(1)` | a word and two slots (`one`), for values below 64 KiB |
//! | `Fixed(n)` | a ring of n slots with stamps (`ring`), for n up to 65,536 and 16 MiB, and values below 64 KiB |
//! | `Unbounded` | a chain of blocks that are used again (`segments`), for values of some half a kibibyte at most |
//! | `Rendezvous`, `Dropping`, `Sliding`, promises, transforms, larger `Fixed`, `Unbounded` of larger values | always shut |
//!
//! # One bit decides
//!
//! Each end of a queue is one word: the place where the next value goes, or is taken (with room for one, a word is both
//! ends). A bit of it says that the front is shut, and then an attempt to move the word on fails: no put or take commits
//! without the lock. Whoever has to wait, or comes to a front that is shut, takes the channel's lock and shuts the front
//! by a read-modify-write of each word. What it finds then is exact and stays so while it holds the lock, and everything goes on as in
//! `ordered_locks`: values are handed to takes that wait, room is filled by puts that wait, an alts holds the locks of
//! all its channels. Whoever releases the lock with nobody left in line opens the front again.
//!
//! So a wake-up cannot be missed between a look and a wait: to publish a value and to shut the front are
//! read-modify-writes of the same word, and whichever comes second sees the first. It takes no fence, and no word
//! that says "somebody waits" which every put and take would have to read: the bit is in the word that they write.
//!
//! A channel that is closed keeps its front shut for puts, which have to be told, and opens it for takes, until one finds
//! nothing and has to be told too. It stays shut for both while a cancelled take's value is back at the head of the queue
//! (C9), or permits hold room (C15).
//!
//! # What an alts does
//!
//! Without locks it draws a clause and tries it, and if that is unable it looks at the ends of all clauses' queues, which
//! is two loads for each at most, and draws among those that seem able; of two it looks at once. The first that tells
//! nothing without a lock ends that: then it locks all its channels, as in `ordered_locks`. Nothing is in line while it tries, so nobody else can
//! commit it, and it has no effect but the one.
//!
//! Where its answer says of a clause that it was unable - with priority of each earlier one, with a default of all - it
//! tries one clause after the other instead, by a read-modify-write where nothing is to be had. It sees them at different
//! moments, though: each was unable at some moment of the call, which is the weak form of A5 and A6.
//!
//! # What it does not promise
//!
//! A put that has won its place and not stamped its slot yet holds up the takes that come to that slot, and a take likewise
//! the puts of the next lap, as in every queue of this kind (C12 is not claimed); whether the queue is full or empty can
//! be told all the same. Who waits for such a step yields its core, so under real-time scheduling a thread must not
//! outrank the one that it waits for on one core.
//!
//! # Waiting
//!
//! Before it takes the lock, a thread whose put or take is unable looks again for a while (`spin`), where there is more than
//! one core. A future does not: who it waits for may have to run on the same thread.

mod cell;
mod family;
mod one;
mod padded;
mod queue;
mod ring;
mod segments;
mod store;

use super::engine::State;
use super::handle::Handle;
use super::{halves, permits};

pub use super::design::MAX_WAITERS;
pub use family::LockFree;
pub use store::Values;

type Core<T> = State<T, Values<T>>;

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
