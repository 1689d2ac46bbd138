//! Channels: one family of traits that fits core.async's handlers, the halves of published crates, and later designs.
//!
//! A *family* is a zero-sized type that names a design. Its sending and receiving halves are generic associated types,
//! so the halves are a published crate's own types, without a wrapper in between. Operations are functions of the
//! family rather than methods of the halves. An adapter may therefore use foreign types unwrapped, and a bound such as
//! `C: Blocking` covers every message type at once.
//!
//! [`Channels`] has what every known channel offers. Anything that only some offer is a trait of its own ([`Blocking`],
//! [`Async`], [`Callback`], [`PutDeadline`], [`TakeDeadline`], [`Alts`], [`MixedAlts`], [`AwaitAlts`], [`Promises`],
//! [`WeakProducers`], [`Batch`], [`Reserve`], [`Transforms`]). Registering a missing capability therefore does not
//! compile.
//!
//! Questions outside timed loops are answered at run time: which buffers exist, a further half, closing, identity. A
//! family that lacks one of these answers "no", and the registry derives the capability from the answer. A trait for
//! each would give every workload that needs two of them a bound of its own. Behaviour that no type can show is a
//! [`Claim`](crate::caps::Claim).
//!
//! A crate with two types of halves (std's `SyncSender` and `Sender`) is two families, registered under one name.
//! core.async's single handle is both halves in one, so `Tx` and `Rx` are the same type.
//!
//! The submodules hold what few families offer: alts over several message types, weak producers, batches, permits and
//! transforms.

mod batch;
mod closed;
mod errors;
mod mixed;
mod reserve;
mod transform;
mod weak;

pub use batch::{AsyncBatch, Batch, BatchError};
pub use closed::AwaitClose;
pub use reserve::{AsyncReserve, BlockingReserve, Reserve, ReserveError};
pub use transform::{Emit, Handler, Opened, Panic, Transform, TransformError, Transforms};
pub use weak::WeakProducers;

use std::future::Future;
use std::num::NonZeroUsize;

use crate::sync::Deadline;

pub use mixed::{AwaitAlts, MixedAlts, PutPort, TakePort, Winner};

/// What a channel may carry.
pub trait Message: Send + 'static {}
impl<T: Send + 'static> Message for T {}

/// How a channel stores values between a put and its take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Buffer {
    /// No buffer: a put completes when a taker has the value.
    Rendezvous,
    /// Room for that many values; then a put waits.
    Fixed(NonZeroUsize),
    /// Room for any number of values; a put never waits.
    Unbounded,
    /// Room for that many values; a put on a full one answers true and its value is dropped.
    Dropping(NonZeroUsize),
    /// Room for that many values; a put on a full one drops the oldest.
    Sliding(NonZeroUsize),
}

impl Buffer {
    /// A fixed buffer, for capacities that are evidently not zero.
    ///
    /// # Panics
    /// When `capacity` is zero: a fixed buffer without room is called [`Buffer::Rendezvous`].
    ///
    /// In a constant, capacity zero does not compile. Nor does the variant with a plain number:
    ///
    /// ```compile_fail
    /// # use flowmeter_harness::channel::Buffer;
    /// const NONE: Buffer = Buffer::fixed(0);
    /// # let _ = NONE;
    /// ```
    ///
    /// ```compile_fail
    /// # use flowmeter_harness::channel::Buffer;
    /// let none = Buffer::Fixed(0);
    /// ```
    pub const fn fixed(capacity: usize) -> Buffer {
        Buffer::Fixed(NonZeroUsize::new(capacity).expect(
            "a fixed buffer has room for at least one value; without room it is a rendezvous",
        ))
    }

    /// Whether every accepted value (its put answered `true`) can be taken.
    pub const fn keeps_everything(self) -> bool {
        !matches!(self, Buffer::Dropping(_) | Buffer::Sliding(_))
    }
}

impl std::fmt::Display for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Buffer::Rendezvous => f.write_str("rendezvous"),
            Buffer::Fixed(n) => write!(f, "fixed({n})"),
            Buffer::Unbounded => f.write_str("unbounded"),
            Buffer::Dropping(n) => write!(f, "dropping({n})"),
            Buffer::Sliding(n) => write!(f, "sliding({n})"),
        }
    }
}

/// Why a put failed.
#[derive(PartialEq, Eq)]
pub enum PutError<T> {
    /// The channel was closed before the put was requested. `None` where the crate swallows the value.
    Closed(Option<T>),
    /// The limit of waiting puts is reached ([`Claim::BoundedWaiters`](crate::caps::Claim::BoundedWaiters)).
    TooManyWaiters(T),
}

/// Why a take received nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeError {
    /// The channel is closed and nothing is left in it.
    Closed,
    /// The limit of waiting takes is reached.
    TooManyWaiters,
}

/// Why a put with a deadline failed.
#[derive(PartialEq, Eq)]
pub enum PutUntilError<T> {
    /// The deadline passed before there was room.
    TimedOut(T),
    /// As for [`Blocking::put`].
    Put(PutError<T>),
}

/// Why a take with a deadline received nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeUntilError {
    /// The deadline passed before there was a value.
    TimedOut,
    /// As for [`Blocking::take`].
    Take(TakeError),
}

/// The result of an [`offer`](Channels::offer).
#[must_use = "a refused value is in it"]
#[derive(Debug, PartialEq, Eq)]
pub enum Offered<T> {
    /// The value is in the buffer, or a taker has it.
    Done,
    /// The put would have had to wait.
    WouldWait(T),
    /// The channel is closed.
    Closed(T),
}

/// The result of a [`poll`](Channels::poll).
#[must_use = "a taken value is in it"]
#[derive(Debug, PartialEq, Eq)]
pub enum Polled<T> {
    /// A value.
    Done(T),
    /// The take would have had to wait.
    WouldWait,
    /// The channel is closed and nothing is left in it.
    Closed,
}

/// A channel design, for any message type: the operations that every known channel has.
pub trait Channels: Sized + Send + Sync + 'static {
    /// The half that puts.
    type Tx<T: Message>: Send + 'static;
    /// The half that takes.
    type Rx<T: Message>: Send + 'static;

    /// A new channel, or `None` where this family has no such buffer.
    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)>;

    /// Another producer of the same channel, or `None` where a channel has only one.
    fn another_tx<T: Message>(_tx: &Self::Tx<T>) -> Option<Self::Tx<T>> {
        None
    }

    /// Another consumer of the same channel, or `None` where a channel has only one.
    fn another_rx<T: Message>(_rx: &Self::Rx<T>) -> Option<Self::Rx<T>> {
        None
    }

    /// Closes the channel while both halves live; closing twice is harmless. Returns `false` where a channel ends only
    /// by dropping halves.
    fn close<T: Message>(_tx: &Self::Tx<T>) -> bool {
        false
    }

    /// [`Channels::close`] from the consumer's side. Values put before can still be taken where the family keeps them
    /// at a close. Returns `false` where a consumer cannot close.
    ///
    /// It decides no capability: [`Capability::Close`](crate::caps::Capability::Close) is about the producer's side.
    fn close_rx<T: Message>(_rx: &mut Self::Rx<T>) -> bool {
        false
    }

    /// Whether both put into the same channel, or `None` where halves cannot tell. Only halves of one kind are
    /// compared: no published crate compares a producer with a consumer.
    fn same_tx<T: Message>(_one: &Self::Tx<T>, _other: &Self::Tx<T>) -> Option<bool> {
        None
    }

    /// Whether both take from the same channel, or `None` where halves cannot tell.
    fn same_rx<T: Message>(_one: &Self::Rx<T>, _other: &Self::Rx<T>) -> Option<bool> {
        None
    }

    /// Puts without waiting.
    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T>;

    /// Takes without waiting.
    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T>;
}

/// Puts and takes that block their thread while they wait.
pub trait Blocking: Channels {
    /// Puts, waiting for room or for a taker.
    ///
    /// # Errors
    /// [`PutError`] when the channel is closed or admits no further waiter; the value comes back.
    fn put<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>>;

    /// Takes, waiting for a value.
    ///
    /// # Errors
    /// [`TakeError`] when the channel is closed and empty, or admits no further waiter.
    fn take<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError>;
}

/// Puts and takes that are futures.
pub trait Async: Channels {
    /// [`Blocking::put`] as a future.
    fn put_async<T: Message>(
        tx: &mut Self::Tx<T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send;

    /// [`Blocking::take`] as a future.
    fn take_async<T: Message>(
        rx: &mut Self::Rx<T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send;
}

/// Puts and takes that answer a callback, as core.async's `put!` and `take!`.
///
/// The callback runs on the thread that completes the operation, outside any lock, and may use the channel again. It
/// should not wait: that would block its thread, and later callbacks might then run on another thread, concurrently
/// with the rest of this one.
pub trait Callback: Channels {
    /// [`Blocking::put`] with its answer given to `then`.
    fn put_then<T: Message>(
        tx: &Self::Tx<T>,
        value: T,
        then: impl FnOnce(Result<(), PutError<T>>) + Send + 'static,
    );

    /// [`Blocking::take`] with its answer given to `then`.
    fn take_then<T: Message>(
        rx: &Self::Rx<T>,
        then: impl FnOnce(Result<T, TakeError>) + Send + 'static,
    );
}

/// A put that gives up at a deadline.
pub trait PutDeadline: Blocking {
    /// [`Blocking::put`] until `deadline`; one in the past tries once.
    ///
    /// # Errors
    /// [`PutUntilError`]; the value comes back.
    fn put_until<T: Message>(
        tx: &mut Self::Tx<T>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>>;
}

/// A take that gives up at a deadline.
pub trait TakeDeadline: Blocking {
    /// [`Blocking::take`] until `deadline`; one in the past tries once.
    ///
    /// # Errors
    /// [`TakeUntilError`].
    fn take_until<T: Message>(
        rx: &mut Self::Rx<T>,
        deadline: Deadline,
    ) -> Result<T, TakeUntilError>;
}

/// Channels that hold one value forever; it answers every take.
pub trait Promises: Channels {
    /// A new promise channel.
    fn open_promise<T: Message + Clone>() -> (Self::Tx<T>, Self::Rx<T>);
}

/// One port of an alts.
#[derive(Debug)]
pub enum Clause<'a, C: Channels, T: Message> {
    /// Take from this half.
    Take(&'a C::Rx<T>),
    /// Put into this half; the value stands in the alts' slot of the same index.
    Put(&'a C::Tx<T>),
}

/// In which order the clauses of an alts are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Order {
    /// As they stand.
    Priority,
    /// At random.
    Random,
}

/// How long an alts waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Until a clause commits.
    Forever,
    /// Until a clause commits or the deadline passes.
    Until(Deadline),
    /// Not at all: the default clause of core.async.
    Now,
}

/// Which clause of an alts committed, and its result.
#[derive(Debug, PartialEq, Eq)]
pub enum Chosen<T> {
    /// The take at index `clause` committed; no value means that its channel was closed and empty.
    Took {
        /// Index into the clauses.
        clause: usize,
        /// What was taken.
        value: Option<T>,
    },
    /// The put at index `clause` committed. Its slot is empty when the value was accepted; it still
    /// holds the value when the channel was closed.
    Put {
        /// Index into the clauses.
        clause: usize,
        /// Whether the channel took the value (`false`: it was closed).
        accepted: bool,
    },
    /// No clause was able, and the patience was [`Patience::Now`].
    Default,
    /// No clause committed before the deadline.
    TimedOut,
}

/// Why an alts could not be prepared or run. It had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AltsError {
    /// No clause, and neither default nor deadline: it would wait forever.
    NoClauses,
    /// The put clause of that index has an empty slot.
    MissingValue {
        /// Index into the clauses.
        clause: usize,
    },
    /// The number of slots differs from the number of clauses.
    SlotCount {
        /// How many slots were given.
        slots: usize,
        /// How many clauses there are.
        clauses: usize,
    },
    /// The channel of that clause has reached its limit of waiters.
    TooManyWaiters {
        /// Index into the clauses.
        clause: usize,
    },
}

/// Waits on several channels of one message type; exactly one clause commits.
///
/// An alts is prepared once and run any number of times, so that designs with a reusable selection (crossbeam's
/// `Select`) do not pay for rebuilding it. Clauses borrow their halves shared, so one channel may stand in several. The
/// values of put clauses stand in slots, one per clause. After a run the winner's slot is empty, unless its channel was
/// closed. The slot of every losing put still holds its value.
pub trait Alts: Blocking {
    /// The prepared clauses.
    type Prepared<'a, T: Message>;

    /// Prepares the clauses for any number of runs.
    fn prepare<'a, T: Message>(
        clauses: &'a [Clause<'a, Self, T>],
        order: Order,
    ) -> Self::Prepared<'a, T>;

    /// Commits exactly one clause, or none if the patience ends first.
    ///
    /// # Errors
    /// [`AltsError`], before any effect.
    fn run<T: Message>(
        prepared: &mut Self::Prepared<'_, T>,
        slots: &mut [Option<T>],
        patience: Patience,
    ) -> Result<Chosen<T>, AltsError>;
}
