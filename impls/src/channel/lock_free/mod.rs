//! `lock_free`: while no request waits, a put is one compare-and-swap and a take is another. Neither takes a lock or
//! looks at a list of waiters. While a request waits, the channel works as one of
//! [`ordered_locks`](super::ordered_locks).
//!
//! | buffer | its front |
//! | --- | --- |
//! | `Fixed(1)` | a word and two slots (`one`), for values below 64 KiB |
//! | `Fixed(n)` | a ring of n slots with stamps (`ring`), for n up to 65,536 and 16 MiB, and values below 64 KiB |
//! | `Unbounded` | a chain of blocks that are used again (`segments`), for values of some half a kibibyte at most |
//! | `Rendezvous`, `Dropping`, `Sliding`, promises, transforms, larger `Fixed`, `Unbounded` of larger values | always shut |
//!
//! The layout of each word is drawn in the head of its module.
//!
//! # One bit decides
//!
//! Each end of a queue is one word: the place where the next value is put or taken. `one` has a single word for both
//! ends. One bit of the word says that the front is shut. While it is set, every attempt to move the word on fails, so
//! no put or take commits without the lock.
//!
//! A request that has to wait, or that finds the front shut, takes the channel's lock and shuts the front. It does so by
//! a read-modify-write of each word that can still move on. The state is exact from then on, and does not change until
//! the lock is released.
//!
//! Under the lock everything works as in `ordered_locks`: values are handed to waiting takes, waiting puts fill free
//! room, and an alts holds the locks of all its channels. A thread that releases the lock while no request waits opens
//! the front again.
//!
//! So no wake-up is lost between a look and a wait. Publishing a value and shutting the end at which it is published are
//! read-modify-writes of one word, and the second of them sees the first. This needs no fence, and no separate "has
//! waiters" word that every put and take would have to read: the bit is in the word that they write.
//!
//! A closed channel keeps its front shut for puts, because each put has to be answered "closed". It opens the front for
//! takes; a take that finds the queue empty asks under the lock. The front stays shut for both while a cancelled take's
//! value is back at the head of the queue (C9), or while permits hold room (C15).
//!
//! # What an alts does
//!
//! An alts first tries clauses without locks. It draws one clause and tries that. If the clause is unable, it looks at
//! the queue ends of all clauses, at most two loads each, and draws among those that seem able. With at most two
//! clauses it skips the first draw. If the answer of a clause is only known under its lock, the alts locks all its
//! channels, as in `ordered_locks`. While it tries without locks it stands in no line, so no other thread can commit
//! one of its clauses.
//!
//! Sometimes the answer says that a clause was unable: each earlier one with priority, and all of them with a default.
//! Then the alts tries one clause after the other, and confirms "unable" by a read-modify-write. It sees the clauses at
//! different moments: each was unable at some moment of the call, which is the weak form of A5 and A6.
//!
//! # What it does not promise
//!
//! C12 is not claimed. A put that has won its place and not yet stamped its slot holds up the takes that come to that
//! slot, as in every queue of this kind. A take holds up the puts of the next lap in the same way. Whether the queue is
//! full or empty can still be told. A thread that waits for such a step yields its core. So under real-time scheduling
//! it must not have a higher priority than the thread that it waits for, on the same core.
//!
//! # Waiting
//!
//! On a machine with more than one core, a thread retries an unable put or take for a while (`spin`) before it takes
//! the lock. A future does not, because the task that it waits for may have to run on the same thread.
//!
//! A ring with room for 32 or more has a pace for puts and one for takes (`pace`), which all threads of a side share. The
//! first turn of a wait without a deadline doubles in a stream, until a wait brings a quarter of the room. So a value may
//! wait for up to eight round trips between two cores.
//!
//! Where there is room for few values, most operations of tasks take the lock. A task that finds it held looks whether
//! others use it often (`Spin::away`). If so its thread sleeps once, and their tasks go on without moving cache lines. It
//! may block its thread there, since those that use the lock run on other threads.

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
