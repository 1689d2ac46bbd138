//! Channels: one family of traits for core.async's handlers, the published crates' halves and
//! whatever comes next.
//!
//! A *family* is a zero-sized type that names a design; its sending and receiving halves are generic
//! associated types, so a published crate's own types are the halves and nothing stands between the
//! harness and them. Operations are functions of the family rather than methods of the halves: an
//! adapter may therefore use foreign types without wrapping them, and a bound such as `C: Blocking`
//! speaks for every message type at once.
//!
//! What every known channel has is in [`Channels`]; what only some have is a trait of its own
//! ([`Blocking`], [`Async`], [`Callback`], [`PutDeadline`], [`TakeDeadline`], [`Alts`], [`MixedAlts`],
//! [`AwaitAlts`], [`Promises`], [`WeakProducers`], [`Batch`], [`Reserve`], [`Transforms`]), so that registering what is
//! not there does not compile. Questions outside any timed loop (which
//! buffers, a further half, closing, identity) are asked at run time and answered with "no" where a family
//! lacks them; the registry derives those capabilities instead of being told. A trait for each would make
//! every workload that needs two of them a bound of its own. Behaviour that no type can show is a
//! [`Claim`](crate::caps::Claim).
//!
//! A crate with two types of halves (std's `SyncSender` and `Sender`) is two families registered under
//! one name. core.async's single handle is both halves in one: `Tx` and `Rx` are then the same type.
//!
//! Files beside this one have what few families offer: alts of several types, producers that keep nothing open,
//! batches, permits, transforms.

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
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "record", serde(rename_all = "kebab-case"))]
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
    /// A fixed buffer; for constants, where the capacity is plainly not zero.
    ///
    /// # Panics
    /// When `capacity` is zero: a fixed buffer without room is called [`Buffer::Rendezvous`].
    ///
    /// A constant one does not compile, nor does the variant with a plain number:
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

    /// Whether every value that a put was answered `true` for comes out again.
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

/// Why a put did not happen.
#[derive(Debug, PartialEq, Eq)]
pub enum PutError<T> {
    /// The channel was closed before the put was requested. `None` where the crate swallows the value.
    Closed(Option<T>),
    /// As many puts wait already as the channel admits ([`Claim::BoundedWaiters`](crate::caps::Claim::BoundedWaiters)).
    TooManyWaiters(T),
}

/// Why a take brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeError {
    /// The channel is closed and nothing is left in it.
    Closed,
    /// As many takes wait already as the channel admits.
    TooManyWaiters,
}

/// Why a put with a deadline did not happen.
#[derive(Debug, PartialEq, Eq)]
pub enum PutUntilError<T> {
    /// The deadline passed before there was room.
    TimedOut(T),
    /// As for [`Blocking::put`].
    Put(PutError<T>),
}

/// Why a take with a deadline brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeUntilError {
    /// The deadline passed before there was a value.
    TimedOut,
    /// As for [`Blocking::take`].
    Take(TakeError),
}

/// What became of an [`offer`](Channels::offer).
#[derive(Debug, PartialEq, Eq)]
pub enum Offered<T> {
    /// The value is in the buffer or in a taker's hands.
    Done,
    /// A put would have had to wait.
    WouldWait(T),
    /// The channel is closed.
    Closed(T),
}

/// What a [`poll`](Channels::poll) found.
#[derive(Debug, PartialEq, Eq)]
pub enum Polled<T> {
    /// A value.
    Done(T),
    /// A take would have had to wait.
    WouldWait,
    /// The channel is closed and nothing is left in it.
    Closed,
}

/// A design of channels, for any message type: what every known channel has.
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

    /// Closes the channel while both halves live; closing twice is harmless. `false` where only dropping
    /// halves ends a channel.
    fn close<T: Message>(_tx: &Self::Tx<T>) -> bool {
        false
    }

    /// [`Channels::close`] from the taking side: what was put before can still be taken where the
    /// family keeps it at a close. `false` where a taker cannot close.
    ///
    /// It decides no capability: [`Capability::Close`](crate::caps::Capability::Close) is the producer's.
    fn close_rx<T: Message>(_rx: &mut Self::Rx<T>) -> bool {
        false
    }

    /// Whether both put into the same channel, or `None` where halves do not know. Halves are compared
    /// with their like: no published crate compares a producer with a consumer.
    fn same_tx<T: Message>(_one: &Self::Tx<T>, _other: &Self::Tx<T>) -> Option<bool> {
        None
    }

    /// Whether both take from the same channel, or `None` where halves do not know.
    fn same_rx<T: Message>(_one: &Self::Rx<T>, _other: &Self::Rx<T>) -> Option<bool> {
        None
    }

    /// Puts without waiting.
    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T>;

    /// Takes without waiting.
    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T>;
}

/// Puts and takes that hold up their thread while they wait.
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
/// The callback runs on the thread that completes the operation, outside any lock, and may use the
/// channel again. It should not wait: it would hold up that thread, and the callbacks behind it might run on another one,
/// beside what it does next.
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

/// Channels that hold one value for ever, which answers every take.
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
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "record", serde(rename_all = "kebab-case"))]
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

/// Which clause of an alts committed, and with what.
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
    /// No clause was able and the alts had no patience.
    Default,
    /// No clause committed before the deadline.
    TimedOut,
}

/// Why an alts could not be prepared or run. Nothing has had an effect then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AltsError {
    /// No clause, and neither default nor deadline: it would wait for ever.
    NoClauses,
    /// The put clause of that index has an empty slot.
    MissingValue {
        /// Index into the clauses.
        clause: usize,
    },
    /// There are not as many slots as clauses.
    SlotCount {
        /// How many slots were given.
        slots: usize,
        /// How many clauses there are.
        clauses: usize,
    },
    /// The channel of that clause admits no further waiter.
    TooManyWaiters {
        /// Index into the clauses.
        clause: usize,
    },
}

/// Waiting on several channels at once, exactly one clause committing.
///
/// An alts is prepared once and run as often as one likes, so that designs with a reusable selection
/// (crossbeam's `Select`) are not charged for rebuilding it. Clauses borrow their halves shared: one
/// channel may stand in several. The values of put clauses stand in slots, one a clause; after a run
/// the winner's slot is empty, unless its channel was closed, and every loser's still holds its value.
pub trait Alts: Blocking {
    /// The prepared clauses.
    type Prepared<'a, T: Message>;

    /// Readies the clauses for any number of runs.
    fn prepare<'a, T: Message>(
        clauses: &'a [Clause<'a, Self, T>],
        order: Order,
    ) -> Self::Prepared<'a, T>;

    /// Commits exactly one clause, or none when patience ends first.
    ///
    /// # Errors
    /// [`AltsError`], before anything had an effect.
    fn run<T: Message>(
        prepared: &mut Self::Prepared<'_, T>,
        slots: &mut [Option<T>],
        patience: Patience,
    ) -> Result<Chosen<T>, AltsError>;
}
