//! The operations of a design of channels: a table for each trait that a family may have, over halves without a type.
//!
//! Tables are filled in [`collected`](super::collected), where the family is known. No property, injected fault or
//! generated program is compiled again for a family. Code that changes a design replaces tables.

use std::any::{Any, TypeId};
use std::collections::VecDeque;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;

use flowmeter_harness::channel::{
    AltsError, BatchError, Buffer, Chosen, Offered, Order, Panic, Patience, Polled, PutError,
    PutUntilError, ReserveError, TakeError, TakeUntilError, Transform, TransformError, Winner,
};
use flowmeter_harness::sync::Deadline;

use super::super::parcel::Parcel;

/// A producer's or consumer's half, of its family's type.
pub(crate) type Half = Box<dyn Any + Send>;
/// Both halves of a new channel.
pub(crate) type Pair = (Half, Half);
/// A future of an operation.
pub(crate) type Pending<'a, R> = Pin<Box<dyn Future<Output = R> + Send + 'a>>;
/// The callback for the answer of an operation.
pub(crate) type Then<R> = Box<dyn FnOnce(R) + Send>;

/// The answer of a put.
pub(crate) type Put = Result<(), PutError<Parcel>>;
/// The answer of a take.
pub(crate) type Taken = Result<Parcel, TakeError>;

/// The answer of a put with a deadline.
pub(crate) type PutUntil = Result<(), PutUntilError<Parcel>>;
/// The answer of a take with a deadline.
pub(crate) type TakenUntil = Result<Parcel, TakeUntilError>;
/// The answer of a put batch.
pub(crate) type PutMany = Result<(), BatchError>;
/// The answer of a taken batch.
pub(crate) type TakenMany = Result<usize, TakeError>;
/// The values of the clauses of an alts.
pub(crate) type Slots = [Option<Parcel>];
/// The answer of an alts.
pub(crate) type Chose = Result<Chosen<Parcel>, AltsError>;
/// The answer of an alts over channels of any types.
pub(crate) type Won = Result<Winner, AltsError>;
/// A transform of parcels.
pub(crate) type Steps = Box<dyn Transform<Parcel>>;
/// The handler of a transform's panics.
pub(crate) type Handles = Box<dyn FnMut(Panic) -> Option<Parcel> + Send>;
/// The answer of opening a channel that transforms.
pub(crate) type Opened = Result<Pair, TransformError>;

/// What every family has ([`Channels`](flowmeter_harness::channel::Channels)).
pub(crate) trait Base: Sync {
    fn open(&self, buffer: Buffer) -> Option<Pair>;
    fn another_tx(&self, tx: &Half) -> Option<Half>;
    fn another_rx(&self, rx: &Half) -> Option<Half>;
    fn close(&self, tx: &Half) -> bool;
    fn close_rx(&self, rx: &mut Half) -> bool;
    fn same_tx(&self, one: &Half, other: &Half) -> Option<bool>;
    fn same_rx(&self, one: &Half, other: &Half) -> Option<bool>;
    fn offer(&self, tx: &mut Half, value: Parcel) -> Offered<Parcel>;
    fn poll(&self, rx: &mut Half) -> Polled<Parcel>;
    /// Receives the type that the channel of a consumer's half carries.
    fn carries(&self, _rx: &Half, _carried: TypeId) {}
}

/// Puts and takes that block their thread.
pub(crate) trait Blocks: Sync {
    fn put(&self, tx: &mut Half, value: Parcel) -> Put;
    fn take(&self, rx: &mut Half) -> Taken;
}

/// Puts and takes that are futures.
pub(crate) trait Awaits: Sync {
    fn put<'a>(&self, tx: &'a mut Half, value: Parcel) -> Pending<'a, Put>;
    fn take<'a>(&self, rx: &'a mut Half) -> Pending<'a, Taken>;
}

/// Puts and takes that call back.
pub(crate) trait CallsBack: Sync {
    fn put(&self, tx: &Half, value: Parcel, then: Then<Put>);
    fn take(&self, rx: &Half, then: Then<Taken>);
}

/// Puts that give up at a deadline.
pub(crate) trait PutsUntil: Sync {
    fn put(&self, tx: &mut Half, value: Parcel, deadline: Deadline) -> PutUntil;
}

/// Takes that give up at a deadline.
pub(crate) trait TakesUntil: Sync {
    fn take(&self, rx: &mut Half, deadline: Deadline) -> TakenUntil;
}

/// Channels that keep one value for ever.
pub(crate) trait Promises: Sync {
    fn open(&self) -> Pair;
}

/// A clause of an alts.
#[derive(Clone, Copy)]
pub(crate) enum Port<'a> {
    /// Takes from this half.
    Take(&'a Half),
    /// Puts the value of its slot into this half.
    Put(&'a Half),
}

/// Prepared clauses.
pub(crate) trait Prepared {
    fn run(&mut self, slots: &mut Slots, patience: Patience) -> Chose;
}

/// Alts.
pub(crate) trait Chooses: Sync {
    /// These ports as the family's own clauses.
    fn clauses<'a>(&self, ports: &[Port<'a>]) -> Box<dyn Clauses + 'a>;
}

/// Clauses of a family.
pub(crate) trait Clauses {
    /// Readies them for any number of runs.
    fn prepare<'a>(&'a self, order: Order) -> Box<dyn Prepared + 'a>;
}

/// Alts with clauses that are made anew for each run.
pub(crate) trait ChoosesAnew: Copy + Send + Sync + 'static {
    fn run(&self, ports: &[Port<'_>], order: Order, slots: &mut Slots, patience: Patience)
    -> Chose;
}

struct Anew<'a, A> {
    alts: A,
    ports: Vec<Port<'a>>,
}

struct Ordered<'a, A>(&'a Anew<'a, A>, Order);

impl<A: ChoosesAnew> Chooses for A {
    fn clauses<'a>(&self, ports: &[Port<'a>]) -> Box<dyn Clauses + 'a> {
        let (alts, ports) = (*self, ports.to_vec());
        Box::new(Anew { alts, ports })
    }
}

impl<A: ChoosesAnew> Clauses for Anew<'_, A> {
    fn prepare<'a>(&'a self, order: Order) -> Box<dyn Prepared + 'a> {
        Box::new(Ordered(self, order))
    }
}

impl<A: ChoosesAnew> Prepared for Ordered<'_, A> {
    fn run(&mut self, slots: &mut Slots, patience: Patience) -> Chose {
        let Ordered(Anew { alts, ports }, order) = self;
        alts.run(ports, *order, slots, patience)
    }
}

/// Alts over channels of any types.
pub(crate) trait Mixes: Sync {
    /// These ports as the family's own clauses, for one run. The values of puts are moved out of their slots.
    fn clauses<'a>(&self, ports: &[Port<'a>], slots: &mut Slots) -> Box<dyn Mixture + 'a>;
}

/// Clauses of any types.
pub(crate) trait Mixture: Send {
    fn run(&mut self, order: Order, patience: Patience) -> Won;
    /// As a future, where alts can be awaited.
    fn run_async<'c>(&'c mut self, order: Order, until: Pending<'c, ()>) -> Pending<'c, Won>;
    /// What a take that has won brought; `None` for a put.
    fn taken(&mut self, clause: usize) -> Option<Option<Parcel>>;
    /// The value that a put has left; `None` for a take.
    fn left(&mut self, clause: usize) -> Option<Parcel>;
}

/// Producers that do not keep their channel open.
pub(crate) trait Weakens: Sync {
    fn downgrade(&self, tx: &Half) -> Half;
    fn upgrade(&self, weak: &Half) -> Option<Half>;
}

/// Waiting for the close.
pub(crate) trait AwaitsClose: Sync {
    fn closed<'a>(&self, tx: &'a Half) -> Pending<'a, ()>;
}

/// Many values in one call.
pub(crate) trait Batches: Sync {
    fn take(&self, rx: &mut Half, limit: NonZeroUsize, values: &mut Vec<Parcel>) -> TakenMany;
    fn put(&self, tx: &mut Half, values: &mut VecDeque<Parcel>) -> PutMany;
}

/// Many values in one future.
pub(crate) trait AwaitsBatches: Sync {
    fn take<'a>(
        &self,
        rx: &'a mut Half,
        limit: NonZeroUsize,
        values: &'a mut Vec<Parcel>,
    ) -> Pending<'a, TakenMany>;
    fn put<'a>(&self, tx: &'a mut Half, values: &'a mut VecDeque<Parcel>) -> Pending<'a, PutMany>;
}

/// Reserved room.
pub(crate) trait Permit: Send {
    fn fill(self: Box<Self>, value: Parcel) -> Result<(), Parcel>;
}

/// The answer of reserving.
pub(crate) type Reserved<'a> = Result<Box<dyn Permit + 'a>, ReserveError>;

/// Permits.
pub(crate) trait Reserves: Sync {
    fn try_reserve<'a>(&self, tx: &'a Half) -> Reserved<'a>;
}

/// Permits that threads wait for.
pub(crate) trait BlocksForRoom: Reserves {
    fn reserve<'a>(&self, tx: &'a Half) -> Reserved<'a>;
}

/// Permits that futures wait for.
pub(crate) trait AwaitsRoom: Reserves {
    fn reserve<'a>(&self, tx: &'a Half) -> Pending<'a, Reserved<'a>>;
}

/// Channels that transform what is put.
pub(crate) trait Transforms: Sync {
    fn open(&self, buffer: Buffer, transform: Steps, handler: Handles) -> Opened;
}
