//! The tables of a family of channels. Their functions are generic over the family. `collected.rs` chooses the type, and
//! code that calls a table does not know it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::pin::pin;

use flowmeter_harness::channel::{
    Alts, Async, AsyncBatch, AsyncReserve, AwaitAlts, AwaitClose, Batch, Blocking, BlockingReserve,
    Buffer, Callback, Channels, Clause, Message, MixedAlts, Offered, Order, Patience, Polled,
    PutDeadline, PutError, Reserve, TakeDeadline, Transform, WeakProducers,
};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::sync::cost::allocations::within;

use super::super::parcel::{Framed, Parcel};
use super::operations::*;

/// The family `C` with channels of parcels, or of what combinators make of parcels.
pub(crate) struct Of<C, M = Parcel>(PhantomData<fn(C, M)>);

impl<C: Channels, M: Message> Of<C, M> {
    /// The value that stands for the family.
    pub(crate) const TABLE: Of<C, M> = Of(PhantomData);
}

type Tx<C> = <C as Channels>::Tx<Parcel>;
type Rx<C> = <C as Channels>::Rx<Parcel>;

const ITS_OWN: &str = "what a design made is used with that design";

/// The half, or another object of the design, in its own type.
pub(in crate::design) fn own<H: 'static>(half: &Half) -> &H {
    half.downcast_ref().expect(ITS_OWN)
}

fn own_mut<H: 'static>(half: &mut Half) -> &mut H {
    half.downcast_mut().expect(ITS_OWN)
}

impl<T> super::Tx<T> {
    /// The half in the type of that family.
    pub(in crate::design) fn family<C: Channels>(&self) -> &Tx<C> {
        own(&self.half)
    }

    /// The half in the type of that family, no longer erased.
    pub(in crate::design) fn into_family<C: Channels>(self) -> Tx<C> {
        *self.half.downcast().expect(ITS_OWN)
    }
}

impl<T> super::Rx<T> {
    /// The half in the type of that family.
    pub(in crate::design) fn family<C: Channels>(&self) -> &Rx<C> {
        own(&self.half)
    }

    /// The half in the type of that family, no longer erased.
    pub(in crate::design) fn into_family<C: Channels>(self) -> Rx<C> {
        *self.half.downcast().expect(ITS_OWN)
    }
}

fn pair<H: Send + 'static, I: Send + 'static>((tx, rx): (H, I)) -> Pair {
    (Box::new(tx), Box::new(rx))
}

impl<C: Channels, M: Message> Base for Of<C, M> {
    fn open(&self, buffer: Buffer) -> Option<Pair> {
        C::open::<M>(buffer).map(pair)
    }
    fn another_tx(&self, half: &Half) -> Option<Half> {
        C::another_tx::<M>(own(half)).map(|tx| Box::new(tx) as Half)
    }
    fn another_rx(&self, half: &Half) -> Option<Half> {
        C::another_rx::<M>(own(half)).map(|rx| Box::new(rx) as Half)
    }
    fn close(&self, half: &Half) -> bool {
        C::close::<M>(own(half))
    }
    fn close_rx(&self, half: &mut Half) -> bool {
        C::close_rx::<M>(own_mut(half))
    }
    fn same_tx(&self, one: &Half, other: &Half) -> Option<bool> {
        C::same_tx::<M>(own(one), own(other))
    }
    fn same_rx(&self, one: &Half, other: &Half) -> Option<bool> {
        C::same_rx::<M>(own(one), own(other))
    }
    fn offer(&self, half: &mut Half, value: Parcel) -> Offered<Parcel> {
        match C::offer(own_mut(half), value.open::<M>()) {
            Offered::Done => Offered::Done,
            Offered::WouldWait(value) => Offered::WouldWait(Parcel::of(value)),
            Offered::Closed(value) => Offered::Closed(Parcel::of(value)),
        }
    }
    fn poll(&self, half: &mut Half) -> Polled<Parcel> {
        match C::poll::<M>(own_mut(half)) {
            Polled::Done(value) => Polled::Done(Parcel::of(value)),
            Polled::WouldWait => Polled::WouldWait,
            Polled::Closed => Polled::Closed,
        }
    }
}

impl<C: Blocking, M: Message> Blocks for Of<C, M> {
    fn put(&self, half: &mut Half, value: Parcel) -> Put {
        let (half, value) = (own_mut(half), value.open::<M>());
        within(|| C::put(half, value)).map_err(refused)
    }
    fn take(&self, half: &mut Half) -> Taken {
        let half = own_mut(half);
        within(|| C::take::<M>(half)).map(Parcel::of)
    }
}

/// Awaits a future of the implementation: what its polls allocate is the implementation's.
async fn awaited_within<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|context| within(|| future.as_mut().poll(context))).await
}

fn refused<M: Message>(error: PutError<M>) -> PutError<Parcel> {
    match error {
        PutError::Closed(value) => PutError::Closed(value.map(Parcel::of)),
        PutError::TooManyWaiters(value) => PutError::TooManyWaiters(Parcel::of(value)),
    }
}

impl<C: Async, M: Message> Awaits for Of<C, M> {
    fn put<'a>(&self, half: &'a mut Half, value: Parcel) -> Pending<'a, Put> {
        let (half, value) = (own_mut(half), value.open::<M>());
        let put = within(|| C::put_async(half, value));
        Box::pin(async move { awaited_within(put).await.map_err(refused) })
    }
    fn take<'a>(&self, half: &'a mut Half) -> Pending<'a, Taken> {
        let half = own_mut(half);
        let take = within(|| C::take_async::<M>(half));
        Box::pin(async move { awaited_within(take).await.map(Parcel::of) })
    }
}

impl<C: Callback> CallsBack for Of<C> {
    fn put(&self, half: &Half, value: Parcel, then: Then<Put>) {
        C::put_then(own::<Tx<C>>(half), value, then);
    }
    fn take(&self, half: &Half, then: Then<Taken>) {
        C::take_then(own::<Rx<C>>(half), then);
    }
}

impl<C: PutDeadline> PutsUntil for Of<C> {
    fn put(&self, half: &mut Half, value: Parcel, deadline: Deadline) -> PutUntil {
        C::put_until(own_mut::<Tx<C>>(half), value, deadline)
    }
}

impl<C: TakeDeadline> TakesUntil for Of<C> {
    fn take(&self, half: &mut Half, deadline: Deadline) -> TakenUntil {
        C::take_until(own_mut::<Rx<C>>(half), deadline)
    }
}

impl<C: flowmeter_harness::channel::Promises> Promises for Of<C> {
    fn open(&self) -> Pair {
        pair(C::open_promise::<Parcel>())
    }
}

impl<C: Alts> Chooses for Of<C> {
    fn clauses<'a>(&self, ports: &[Port<'a>]) -> Box<dyn Clauses + 'a> {
        let clauses = ports.iter().map(clause::<C>);
        Box::new(Stated::<C>(clauses.collect()))
    }
}

/// Clauses, stated.
struct Stated<'c, C: Channels>(Vec<Clause<'c, C, Parcel>>);

impl<C: Alts> Clauses for Stated<'_, C> {
    fn prepare<'a>(&'a self, order: Order) -> Box<dyn Prepared + 'a> {
        Box::new(Ready::<C>(C::prepare(&self.0, order)))
    }
}

fn clause<'a, C: Channels>(port: &Port<'a>) -> Clause<'a, C, Parcel> {
    match *port {
        Port::Take(half) => Clause::Take(own::<Rx<C>>(half)),
        Port::Put(half) => Clause::Put(own::<Tx<C>>(half)),
    }
}

/// Clauses of a family, prepared.
struct Ready<'a, C: Alts>(C::Prepared<'a, Parcel>);

impl<C: Alts> Prepared for Ready<'_, C> {
    fn run(&mut self, slots: &mut Slots, patience: Patience) -> Chose {
        C::run(&mut self.0, slots, patience)
    }
}

impl<C: MixedAlts> Mixes for Of<C> {
    fn clauses<'a>(&self, ports: &[Port<'a>], slots: &mut Slots) -> Box<dyn Mixture + 'a> {
        Made::<C>::boxed(ports, slots, |_, _, _| panic!("{}", super::ASKED))
    }
}

/// The family `C` with alts that can be awaited.
pub(crate) struct Awaited<C>(PhantomData<fn(C)>);

impl<C: AwaitAlts> Awaited<C> {
    /// The value that stands for the family.
    pub(crate) const TABLE: Awaited<C> = Awaited(PhantomData);
}

impl<C: AwaitAlts> Mixes for Awaited<C> {
    fn clauses<'a>(&self, ports: &[Port<'a>], slots: &mut Slots) -> Box<dyn Mixture + 'a> {
        Made::<C>::boxed(ports, slots, |mut clauses, order, until| {
            Box::pin(async move { C::run_async(&mut clauses, order, until).await })
        })
    }
}

/// A clause of either type.
enum Mixed<'a, C: MixedAlts> {
    Take(C::TakeClause<'a, Parcel>),
    TakeFramed(C::TakeClause<'a, Framed>),
    Put(C::PutClause<'a, Parcel>),
    PutFramed(C::PutClause<'a, Framed>),
}

/// Clauses of both types.
struct Made<'a, C: MixedAlts> {
    clauses: Vec<Mixed<'a, C>>,
    run_async: RunAsync<C>,
}

type RunAsync<C> =
    for<'c> fn(Vec<<C as MixedAlts>::AnyClause<'c>>, Order, Pending<'c, ()>) -> Pending<'c, Won>;

impl<'a, C: MixedAlts> Made<'a, C> {
    fn boxed(ports: &[Port<'a>], slots: &mut Slots, run_async: RunAsync<C>) -> Box<Self> {
        let clauses = ports.iter().zip(slots);
        let clauses = clauses.map(|(port, slot)| Mixed::of(port, slot)).collect();
        Box::new(Made { clauses, run_async })
    }

    fn any(&mut self) -> Vec<C::AnyClause<'_>> {
        self.clauses.iter_mut().map(Mixed::any).collect()
    }
}

impl<'a, C: MixedAlts> Mixed<'a, C> {
    fn of(port: &Port<'a>, slot: &mut Option<Parcel>) -> Self {
        match *port {
            Port::Take(half) => match half.downcast_ref() {
                Some(rx) => Mixed::Take(C::take_clause(rx)),
                None => Mixed::TakeFramed(C::take_clause(own(half))),
            },
            Port::Put(half) => match half.downcast_ref() {
                Some(tx) => Mixed::Put(C::put_clause(tx, slot.take())),
                None => {
                    let framed = slot.take().map(Parcel::open);
                    Mixed::PutFramed(C::put_clause(own(half), framed))
                }
            },
        }
    }

    fn any(&mut self) -> C::AnyClause<'_> {
        match self {
            Mixed::Take(take) => C::any_take(take),
            Mixed::TakeFramed(take) => C::any_take(take),
            Mixed::Put(put) => C::any_put(put),
            Mixed::PutFramed(put) => C::any_put(put),
        }
    }
}

impl<C: MixedAlts> Mixture for Made<'_, C> {
    fn run(&mut self, order: Order, patience: Patience) -> Won {
        C::run_mixed(&mut self.any(), order, patience)
    }
    fn run_async<'c>(&'c mut self, order: Order, until: Pending<'c, ()>) -> Pending<'c, Won> {
        (self.run_async)(self.any(), order, until)
    }
    fn taken(&mut self, clause: usize) -> Option<Option<Parcel>> {
        match &mut self.clauses[clause] {
            Mixed::Take(take) => Some(C::taken(take)),
            Mixed::TakeFramed(take) => Some(C::taken(take).map(Parcel::of)),
            Mixed::Put(_) | Mixed::PutFramed(_) => None,
        }
    }
    fn left(&mut self, clause: usize) -> Option<Parcel> {
        match &mut self.clauses[clause] {
            Mixed::Take(_) | Mixed::TakeFramed(_) => None,
            Mixed::Put(put) => C::slot(put).take(),
            Mixed::PutFramed(put) => C::slot(put).take().map(Parcel::of),
        }
    }
}

impl<C: WeakProducers> Weakens for Of<C> {
    fn downgrade(&self, half: &Half) -> Half {
        Box::new(C::downgrade(own::<Tx<C>>(half)))
    }
    fn upgrade(&self, weak: &Half) -> Option<Half> {
        let weak = weak.downcast_ref::<C::WeakTx<Parcel>>().expect(ITS_OWN);
        C::upgrade(weak).map(|tx| Box::new(tx) as Half)
    }
}

impl<C: AwaitClose> AwaitsClose for Of<C> {
    fn closed<'a>(&self, half: &'a Half) -> Pending<'a, ()> {
        Box::pin(C::closed(own::<Tx<C>>(half)))
    }
}

impl<C: Batch> Batches for Of<C> {
    fn take(&self, half: &mut Half, limit: NonZeroUsize, values: &mut Vec<Parcel>) -> TakenMany {
        C::take_many(own_mut::<Rx<C>>(half), limit, values)
    }
    fn put(&self, half: &mut Half, values: &mut VecDeque<Parcel>) -> PutMany {
        C::put_many(own_mut::<Tx<C>>(half), values)
    }
}

impl<C: AsyncBatch> AwaitsBatches for Of<C> {
    fn take<'a>(
        &self,
        half: &'a mut Half,
        limit: NonZeroUsize,
        values: &'a mut Vec<Parcel>,
    ) -> Pending<'a, TakenMany> {
        Box::pin(C::take_many_async(own_mut::<Rx<C>>(half), limit, values))
    }
    fn put<'a>(
        &self,
        half: &'a mut Half,
        values: &'a mut VecDeque<Parcel>,
    ) -> Pending<'a, PutMany> {
        Box::pin(C::put_many_async(own_mut::<Tx<C>>(half), values))
    }
}

/// A permit of a family.
struct Held<'a, C: Reserve>(C::Permit<'a, Parcel>);

impl<C: Reserve> Permit for Held<'_, C> {
    fn fill(self: Box<Self>, value: Parcel) -> Result<(), Parcel> {
        C::fill(self.0, value)
    }
}

fn held<'a, C: Reserve>(permit: C::Permit<'a, Parcel>) -> Box<dyn Permit + 'a> {
    Box::new(Held::<C>(permit))
}

impl<C: Reserve> Reserves for Of<C> {
    fn try_reserve<'a>(&self, half: &'a Half) -> Reserved<'a> {
        C::try_reserve(own::<Tx<C>>(half)).map(held::<C>)
    }
}

impl<C: BlockingReserve> BlocksForRoom for Of<C> {
    fn reserve<'a>(&self, half: &'a Half) -> Reserved<'a> {
        C::reserve(own::<Tx<C>>(half)).map(held::<C>)
    }
}

impl<C: AsyncReserve> AwaitsRoom for Of<C> {
    fn reserve<'a>(&self, half: &'a Half) -> Pending<'a, Reserved<'a>> {
        let reserving = C::reserve_async(own::<Tx<C>>(half));
        Box::pin(async move { reserving.await.map(held::<C>) })
    }
}

impl<C: flowmeter_harness::channel::Transforms> Transforms for Of<C> {
    fn open(&self, buffer: Buffer, transform: Steps, handler: Handles) -> Opened {
        C::open_transformed(buffer, BoxedTransform(transform), handler).map(pair)
    }
}

/// A transform without its type.
pub(in crate::design) struct BoxedTransform(pub(in crate::design) Steps);

impl Transform<Parcel> for BoxedTransform {
    fn step(
        &mut self,
        value: Parcel,
        emit: flowmeter_harness::channel::Emit<'_, Parcel>,
    ) -> std::ops::ControlFlow<()> {
        self.0.step(value, emit)
    }
    fn complete(&mut self, emit: flowmeter_harness::channel::Emit<'_, Parcel>) {
        self.0.complete(emit);
    }
}
