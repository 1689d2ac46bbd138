//! The halves of an erased channel: its operations as methods, in the types of the carried values.

use std::any::TypeId;
use std::collections::VecDeque;
use std::future::Future;
use std::marker::PhantomData;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{
    BatchError, Offered, Polled, PutError, PutUntilError, ReserveError, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::super::parcel::{Pack, Parcel, Unpack};
use super::operations::{self, Half};
use super::{ASKED, Channels};

/// A producer's half.
pub(crate) struct Tx<T> {
    pub(in super::super) half: Half,
    of: Channels,
    pub(super) pack: Pack<T>,
}

/// A consumer's half.
pub(crate) struct Rx<T> {
    pub(crate) half: Half,
    of: Channels,
    unpack: Unpack<T>,
}

/// A producer that does not keep its channel open.
pub(crate) struct WeakTx<T> {
    half: Half,
    of: Channels,
    pack: Pack<T>,
}

/// Room for one value.
pub(crate) struct Permit<'a, T> {
    permit: Box<dyn operations::Permit + 'a>,
    carries: PhantomData<fn(T) -> T>,
}

impl<T: Send + 'static> Tx<T> {
    pub(in super::super) fn new(of: Channels, half: Half, pack: Pack<T>) -> Self {
        Tx { half, of, pack }
    }

    /// The design of the channel.
    pub(crate) fn channels(&self) -> Channels {
        self.of
    }

    /// The half with another type of values, packed by `pack`.
    pub(in super::super) fn carrying<U>(self, pack: Pack<U>) -> Tx<U> {
        let Tx { half, of, .. } = self;
        Tx { half, of, pack }
    }

    /// Another producer of the channel.
    pub(crate) fn another(&self) -> Option<Self> {
        let half = self.of.tables().base.another_tx(&self.half)?;
        Some(Tx::new(self.of, half, self.pack))
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
        match self
            .of
            .tables()
            .base
            .offer(&mut self.half, (self.pack)(value))
        {
            Offered::Done => Offered::Done,
            Offered::WouldWait(value) => Offered::WouldWait(value.open()),
            Offered::Closed(value) => Offered::Closed(value.open()),
        }
    }

    /// Puts, blocking the thread.
    pub(crate) fn put(&mut self, value: T) -> Result<(), PutError<T>> {
        let table = self.of.tables().blocks.expect(ASKED);
        table
            .put(&mut self.half, (self.pack)(value))
            .map_err(refused)
    }

    /// Puts as a future.
    pub(crate) fn put_async(
        &mut self,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        let table = self.of.tables().awaits.expect(ASKED);
        let put = table.put(&mut self.half, (self.pack)(value));
        async move { put.await.map_err(refused) }
    }

    /// Puts, and calls back with the answer.
    pub(crate) fn put_then(
        &self,
        value: T,
        then: impl FnOnce(Result<(), PutError<T>>) + Send + 'static,
    ) {
        let table = self.of.tables().calls_back.expect(ASKED);
        let then = Box::new(|answer: operations::Put| then(answer.map_err(refused)));
        table.put(&self.half, (self.pack)(value), then);
    }

    /// Puts until the deadline.
    pub(crate) fn put_until(
        &mut self,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        let table = self.of.tables().puts_until.expect(ASKED);
        let put = table.put(&mut self.half, (self.pack)(value), deadline);
        put.map_err(|error| match error {
            PutUntilError::TimedOut(value) => PutUntilError::TimedOut(value.open()),
            PutUntilError::Put(error) => PutUntilError::Put(refused(error)),
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
            pack: self.pack,
        }
    }

    /// Puts all values of the queue, blocking the thread.
    pub(crate) fn put_many(&mut self, values: &mut VecDeque<T>) -> Result<(), BatchError> {
        let table = self.of.tables().batches.expect(ASKED);
        let mut packed = values.drain(..).map(self.pack).collect();
        let answer = table.put(&mut self.half, &mut packed);
        values.extend(packed.into_iter().map(Parcel::open));
        answer
    }

    /// Puts all values of the queue as a future. Values it has not put when it is dropped are dropped with it.
    pub(crate) fn put_many_async(
        &mut self,
        values: &mut VecDeque<T>,
    ) -> impl Future<Output = Result<(), BatchError>> + Send {
        let table = self.of.tables().awaits_batches.expect(ASKED);
        let (half, pack) = (&mut self.half, self.pack);
        async move {
            let mut packed = values.drain(..).map(pack).collect();
            let answer = table.put(half, &mut packed).await;
            values.extend(packed.into_iter().map(Parcel::open));
            answer
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

pub(in crate::design) fn refused<T: 'static>(error: PutError<Parcel>) -> PutError<T> {
    match error {
        PutError::Closed(value) => PutError::Closed(value.map(Parcel::open)),
        PutError::TooManyWaiters(value) => PutError::TooManyWaiters(value.open()),
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
        let mut packed = values.drain(..).map(Parcel::of).collect();
        let answer = table.take(&mut self.half, limit, &mut packed);
        values.extend(packed.into_iter().map(self.unpack));
        answer
    }

    /// Takes the values that are there, up to the limit, as a future. If it is dropped, the values in the list are
    /// dropped too.
    pub(crate) fn take_many_async(
        &mut self,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> impl Future<Output = Result<usize, TakeError>> + Send {
        let table = self.of.tables().awaits_batches.expect(ASKED);
        let (half, unpack) = (&mut self.half, self.unpack);
        async move {
            let mut packed = values.drain(..).map(Parcel::of).collect();
            let answer = table.take(half, limit, &mut packed).await;
            values.extend(packed.into_iter().map(unpack));
            answer
        }
    }
}

impl<T: Send + 'static> WeakTx<T> {
    /// An ordinary producer, unless the last one is gone.
    pub(crate) fn upgrade(&self) -> Option<Tx<T>> {
        let half = self.of.tables().weakens.expect(ASKED).upgrade(&self.half)?;
        Some(Tx::new(self.of, half, self.pack))
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
