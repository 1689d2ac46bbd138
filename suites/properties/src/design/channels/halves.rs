//! The halves of an erased channel: its operations as methods, in the types of the carried values.

use std::any::TypeId;
use std::collections::VecDeque;
use std::future::Future;
use std::marker::PhantomData;
use std::mem;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{
    BatchError, Offered, Polled, PutError, PutUntilError, ReserveError, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::super::parcel::{Packing, Parcel, Unpack};
use super::operations::{self, Half};
use super::{ASKED, Channels};

/// A producer's half.
pub(crate) struct Tx<T> {
    pub(crate) half: Half,
    of: Channels,
    pub(super) packing: Packing<T>,
}

/// A consumer's half.
pub(crate) struct Rx<T> {
    pub(crate) half: Half,
    of: Channels,
    pub(super) unpack: Unpack<T>,
}

/// A producer that does not keep its channel open.
pub(crate) struct WeakTx<T> {
    half: Half,
    of: Channels,
    packing: Packing<T>,
}

/// Room for one value.
pub(crate) struct Permit<'a, T> {
    permit: Box<dyn operations::Permit + 'a>,
    carries: PhantomData<fn(T) -> T>,
}

impl<T: Send + 'static> Tx<T> {
    pub(in super::super) fn new(of: Channels, half: Half, packing: Packing<T>) -> Self {
        Tx { half, of, packing }
    }

    /// The design of the channel.
    pub(crate) fn channels(&self) -> Channels {
        self.of
    }

    /// The half with another type of values, packed so.
    pub(in super::super) fn carrying<U>(self, packing: Packing<U>) -> Tx<U> {
        let Tx { half, of, .. } = self;
        Tx { half, of, packing }
    }

    /// Another producer of the channel.
    pub(crate) fn another(&self) -> Option<Self> {
        let half = self.of.tables().base.another_tx(&self.half)?;
        Some(Tx::new(self.of, half, self.packing))
    }

    /// Closes the channel; `false` where only dropping halves does.
    pub(crate) fn close(&self) -> bool {
        self.of.tables().base.close(&self.half)
    }

    /// Whether both put into the same channel.
    pub(crate) fn same(&self, other: &Self) -> Option<bool> {
        self.of.tables().base.same_tx(&self.half, &other.half)
    }

    /// Puts without waiting.
    pub(crate) fn offer(&mut self, value: T) -> Offered<T> {
        let Packing { pack, unpack } = self.packing;
        match self.of.tables().base.offer(&mut self.half, pack(value)) {
            Offered::Done => Offered::Done,
            Offered::WouldWait(value) => Offered::WouldWait(unpack(value)),
            Offered::Closed(value) => Offered::Closed(unpack(value)),
        }
    }

    /// Puts, blocking the thread.
    pub(crate) fn put(&mut self, value: T) -> Result<(), PutError<T>> {
        let table = self.of.tables().blocks.expect(ASKED);
        let Packing { pack, unpack } = self.packing;
        let put = table.put(&mut self.half, pack(value));
        put.map_err(|error| refused(error, unpack))
    }

    /// Puts as a future.
    pub(crate) fn put_async(
        &mut self,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        let table = self.of.tables().awaits.expect(ASKED);
        let Packing { pack, unpack } = self.packing;
        let put = table.put(&mut self.half, pack(value));
        async move { put.await.map_err(|error| refused(error, unpack)) }
    }

    /// Puts, and calls back with the answer.
    pub(crate) fn put_then(
        &self,
        value: T,
        then: impl FnOnce(Result<(), PutError<T>>) + Send + 'static,
    ) {
        let table = self.of.tables().calls_back.expect(ASKED);
        let Packing { pack, unpack } = self.packing;
        let then =
            move |answer: operations::Put| then(answer.map_err(|error| refused(error, unpack)));
        table.put(&self.half, pack(value), Box::new(then));
    }

    /// Puts until the deadline.
    pub(crate) fn put_until(
        &mut self,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        let table = self.of.tables().puts_until.expect(ASKED);
        let Packing { pack, unpack } = self.packing;
        let put = table.put(&mut self.half, pack(value), deadline);
        put.map_err(|error| match error {
            PutUntilError::TimedOut(value) => PutUntilError::TimedOut(unpack(value)),
            PutUntilError::Put(error) => PutUntilError::Put(refused(error, unpack)),
        })
    }

    /// Ready once the channel is closed.
    pub(crate) fn closed(&self) -> impl Future<Output = ()> + Send {
        self.of
            .tables()
            .awaits_close
            .expect(ASKED)
            .closed(&self.half)
    }

    /// A producer of the channel that does not keep it open.
    pub(crate) fn downgrade(&self) -> WeakTx<T> {
        WeakTx {
            half: self.of.tables().weakens.expect(ASKED).downgrade(&self.half),
            of: self.of,
            packing: self.packing,
        }
    }

    /// Puts all values of the queue, blocking the thread.
    pub(crate) fn put_many(&mut self, values: &mut VecDeque<T>) -> Result<(), BatchError> {
        let table = self.of.tables().batches.expect(ASKED);
        let mut lent = Lent::of(values, self.packing);
        table.put(&mut self.half, &mut lent.packed)
    }

    /// Puts all values of the queue as a future.
    pub(crate) fn put_many_async(
        &mut self,
        values: &mut VecDeque<T>,
    ) -> impl Future<Output = Result<(), BatchError>> + Send {
        let table = self.of.tables().awaits_batches.expect(ASKED);
        let (half, packing) = (&mut self.half, self.packing);
        async move {
            let mut lent = Lent::of(values, packing);
            table.put(half, &mut lent.packed).await
        }
    }

    /// Reserves room without waiting.
    pub(crate) fn try_reserve(&self) -> Result<Permit<'_, T>, ReserveError> {
        let table = self.of.tables().reserves();
        table.try_reserve(&self.half).map(Permit::new)
    }

    /// Reserves room, blocking the thread.
    pub(crate) fn reserve(&self) -> Result<Permit<'_, T>, ReserveError> {
        let table = self.of.tables().blocks_for_room.expect(ASKED);
        table.reserve(&self.half).map(Permit::new)
    }

    /// Reserves room as a future.
    pub(crate) fn reserve_async(
        &self,
    ) -> impl Future<Output = Result<Permit<'_, T>, ReserveError>> + Send {
        let table = self.of.tables().awaits_room.expect(ASKED);
        let reserving = table.reserve(&self.half);
        async move { reserving.await.map(Permit::new) }
    }
}

pub(in crate::design) fn refused<T>(error: PutError<Parcel>, unpack: Unpack<T>) -> PutError<T> {
    match error {
        PutError::Closed(value) => PutError::Closed(value.map(unpack)),
        PutError::TooManyWaiters(value) => PutError::TooManyWaiters(unpack(value)),
    }
}

/// The values of a batch, packed. What is left or taken returns to the caller's collection at the end, also of a
/// future that is dropped.
struct Lent<'a, T, Whole: Extend<T>, Packed: Default + IntoIterator<Item = Parcel>> {
    packed: Packed,
    values: &'a mut Whole,
    unpack: Unpack<T>,
}

impl<'a, T, Whole, Packed> Lent<'a, T, Whole, Packed>
where
    Whole: Default + Extend<T> + IntoIterator<Item = T>,
    Packed: Default + FromIterator<Parcel> + IntoIterator<Item = Parcel>,
{
    fn of(values: &'a mut Whole, packing: Packing<T>) -> Self {
        let packed = mem::take(values).into_iter().map(packing.pack).collect();
        Lent {
            packed,
            values,
            unpack: packing.unpack,
        }
    }
}

impl<T, Whole: Extend<T>, Packed: Default + IntoIterator<Item = Parcel>> Drop
    for Lent<'_, T, Whole, Packed>
{
    fn drop(&mut self) {
        let packed = mem::take(&mut self.packed);
        self.values.extend(packed.into_iter().map(self.unpack));
    }
}

impl<T: Send + 'static> Rx<T> {
    pub(in super::super) fn new(of: Channels, half: Half) -> Self {
        of.tables().base.carries(&half, TypeId::of::<T>());
        Rx {
            half,
            of,
            unpack: Parcel::open,
        }
    }

    /// The design of the channel.
    pub(crate) fn channels(&self) -> Channels {
        self.of
    }

    /// The half with another type of values, unpacked by `unpack`.
    pub(in super::super) fn carrying<U>(self, unpack: Unpack<U>) -> Rx<U> {
        let Rx { half, of, .. } = self;
        Rx { half, of, unpack }
    }

    /// Another consumer of the channel.
    pub(crate) fn another(&self) -> Option<Self> {
        let half = self.of.tables().base.another_rx(&self.half)?;
        Some(Rx {
            half,
            of: self.of,
            unpack: self.unpack,
        })
    }

    /// Closes the channel; `false` where a consumer cannot.
    pub(crate) fn close(&mut self) -> bool {
        self.of.tables().base.close_rx(&mut self.half)
    }

    /// Whether both take from the same channel.
    pub(crate) fn same(&self, other: &Self) -> Option<bool> {
        self.of.tables().base.same_rx(&self.half, &other.half)
    }

    /// Takes without waiting.
    pub(crate) fn poll(&mut self) -> Polled<T> {
        match self.of.tables().base.poll(&mut self.half) {
            Polled::Done(value) => Polled::Done((self.unpack)(value)),
            Polled::WouldWait => Polled::WouldWait,
            Polled::Closed => Polled::Closed,
        }
    }

    /// Takes, blocking the thread.
    pub(crate) fn take(&mut self) -> Result<T, TakeError> {
        let table = self.of.tables().blocks.expect(ASKED);
        table.take(&mut self.half).map(self.unpack)
    }

    /// Takes as a future.
    pub(crate) fn take_async(&mut self) -> impl Future<Output = Result<T, TakeError>> + Send {
        let unpack = self.unpack;
        let take = self.of.tables().awaits.expect(ASKED).take(&mut self.half);
        async move { take.await.map(unpack) }
    }

    /// Takes, and calls back with the answer.
    pub(crate) fn take_then(&self, then: impl FnOnce(Result<T, TakeError>) + Send + 'static) {
        let table = self.of.tables().calls_back.expect(ASKED);
        let unpack = self.unpack;
        let then = Box::new(move |answer: operations::Taken| then(answer.map(unpack)));
        table.take(&self.half, then);
    }

    /// Takes until the deadline.
    pub(crate) fn take_until(&mut self, deadline: Deadline) -> Result<T, TakeUntilError> {
        let table = self.of.tables().takes_until.expect(ASKED);
        table.take(&mut self.half, deadline).map(self.unpack)
    }
}

impl<T: Send + 'static> Rx<T> {
    /// Takes the values that are there, up to the limit, blocking the thread until the first.
    pub(crate) fn take_many(
        &mut self,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> Result<usize, TakeError> {
        let table = self.of.tables().batches.expect(ASKED);
        let mut lent = Lent::of(values, self.packing());
        table.take(&mut self.half, limit, &mut lent.packed)
    }

    /// The packing of values that are already in the list of a batch.
    fn packing(&self) -> Packing<T> {
        Packing {
            unpack: self.unpack,
            ..Packing::PLAIN
        }
    }

    /// Takes the values that are there, up to the limit, as a future.
    pub(crate) fn take_many_async(
        &mut self,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> impl Future<Output = Result<usize, TakeError>> + Send {
        let table = self.of.tables().awaits_batches.expect(ASKED);
        let packing = self.packing();
        let half = &mut self.half;
        async move {
            let mut lent = Lent::of(values, packing);
            table.take(half, limit, &mut lent.packed).await
        }
    }
}

impl<T: Send + 'static> WeakTx<T> {
    /// An ordinary producer, unless the last one is gone.
    pub(crate) fn upgrade(&self) -> Option<Tx<T>> {
        let half = self.of.tables().weakens.expect(ASKED).upgrade(&self.half)?;
        Some(Tx::new(self.of, half, self.packing))
    }
}

impl<'a, T: Send + 'static> Permit<'a, T> {
    fn new(permit: Box<dyn operations::Permit + 'a>) -> Self {
        Permit {
            permit,
            carries: PhantomData,
        }
    }

    /// Puts into the reserved room.
    pub(crate) fn fill(self, value: T) -> Result<(), T> {
        self.permit.fill(Parcel::of(value)).map_err(Parcel::open)
    }
}
