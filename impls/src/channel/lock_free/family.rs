//! The design as the harness sees it: its halves are counted (C14) and go straight to the one handle.

use std::collections::VecDeque;
use std::future::Future;
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{
    Alts, AltsError, Async, AsyncBatch, AsyncReserve, AwaitAlts, AwaitClose, Batch, BatchError,
    Blocking, BlockingReserve, Buffer, Callback, Channels, Chosen, Clause, Handler, Message,
    MixedAlts, Offered, Order, Patience, Polled, Promises, PutDeadline, PutError, PutPort,
    PutUntilError, Reserve, ReserveError, TakeDeadline, TakeError, TakePort, TakeUntilError,
    Transform, TransformError, Transforms, WeakProducers, Winner,
};
use flowmeter_harness::sync::Deadline;

use super::super::ordered_locks::{self, AnyClause, run_async, run_mixed};
use super::{Channel, Values};
use crate::channel::halves::{Consumer, Producer, WeakProducer, split};

type Tx<T> = Producer<Channel<T>>;
type Rx<T> = Consumer<Channel<T>>;
type TakeClause<'a, T> = ordered_locks::TakeClause<'a, T, Values<T>>;
type PutClause<'a, T> = ordered_locks::PutClause<'a, T, Values<T>>;
type Prepared<'a, T> = ordered_locks::Prepared<'a, T, Values<T>>;
type Permit<'a, T> = ordered_locks::Permit<'a, T, Values<T>>;

/// The family of [`Channel`].
#[derive(Debug)]
pub struct LockFree;

impl Channels for LockFree {
    type Tx<T: Message> = Tx<T>;
    type Rx<T: Message> = Rx<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Tx<T>, Rx<T>)> {
        Some(split(Channel::new(buffer)))
    }
    fn another_tx<T: Message>(tx: &Tx<T>) -> Option<Tx<T>> {
        Some(tx.clone())
    }
    fn another_rx<T: Message>(rx: &Rx<T>) -> Option<Rx<T>> {
        Some(rx.clone())
    }
    fn close<T: Message>(tx: &Tx<T>) -> bool {
        tx.close();
        true
    }
    fn close_rx<T: Message>(rx: &mut Rx<T>) -> bool {
        rx.close();
        true
    }
    fn same_tx<T: Message>(one: &Tx<T>, other: &Tx<T>) -> Option<bool> {
        Some(one == other)
    }
    fn same_rx<T: Message>(one: &Rx<T>, other: &Rx<T>) -> Option<bool> {
        Some(one == other)
    }
    fn offer<T: Message>(tx: &mut Tx<T>, value: T) -> Offered<T> {
        tx.offer(value)
    }
    fn poll<T: Message>(rx: &mut Rx<T>) -> Polled<T> {
        rx.poll()
    }
}

impl Blocking for LockFree {
    fn put<T: Message>(tx: &mut Tx<T>, value: T) -> Result<(), PutError<T>> {
        tx.put(value)
    }
    fn take<T: Message>(rx: &mut Rx<T>) -> Result<T, TakeError> {
        rx.take()
    }
}

impl PutDeadline for LockFree {
    fn put_until<T: Message>(
        tx: &mut Tx<T>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        tx.put_until(value, deadline)
    }
}

impl TakeDeadline for LockFree {
    fn take_until<T: Message>(rx: &mut Rx<T>, deadline: Deadline) -> Result<T, TakeUntilError> {
        rx.take_until(deadline)
    }
}

impl Async for LockFree {
    fn put_async<T: Message>(
        tx: &mut Tx<T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        tx.put_async(value)
    }
    fn take_async<T: Message>(rx: &mut Rx<T>) -> impl Future<Output = Result<T, TakeError>> + Send {
        rx.take_async()
    }
}

impl Callback for LockFree {
    fn put_then<T: Message>(
        tx: &Tx<T>,
        value: T,
        then: impl FnOnce(Result<(), PutError<T>>) + Send + 'static,
    ) {
        tx.handle().put_then(value, then);
    }
    fn take_then<T: Message>(rx: &Rx<T>, then: impl FnOnce(Result<T, TakeError>) + Send + 'static) {
        rx.handle().take_then(then);
    }
}

impl Promises for LockFree {
    fn open_promise<T: Message + Clone>() -> (Tx<T>, Rx<T>) {
        split(Channel::promise())
    }
}

impl Alts for LockFree {
    type Prepared<'a, T: Message> = Prepared<'a, T>;

    fn prepare<'a, T: Message>(
        clauses: &'a [Clause<'a, Self, T>],
        order: Order,
    ) -> Prepared<'a, T> {
        Prepared::new(clauses, order)
    }
    fn run<T: Message>(
        prepared: &mut Prepared<'_, T>,
        slots: &mut [Option<T>],
        patience: Patience,
    ) -> Result<Chosen<T>, AltsError> {
        prepared.run(slots, patience)
    }
}

impl MixedAlts for LockFree {
    type TakeClause<'a, T: Message> = TakeClause<'a, T>;
    type PutClause<'a, T: Message> = PutClause<'a, T>;
    type AnyClause<'c> = AnyClause<'c>;

    fn take_clause<T: Message>(rx: &Rx<T>) -> TakeClause<'_, T> {
        TakeClause::new(rx.handle())
    }
    fn put_clause<T: Message>(tx: &Tx<T>, slot: Option<T>) -> PutClause<'_, T> {
        PutClause::new(tx.handle(), slot)
    }
    fn any_take<'c, T: Message>(clause: &'c mut TakeClause<'_, T>) -> AnyClause<'c> {
        AnyClause::take(clause)
    }
    fn any_put<'c, T: Message>(clause: &'c mut PutClause<'_, T>) -> AnyClause<'c> {
        AnyClause::put(clause)
    }
    fn taken<T: Message>(clause: &mut TakeClause<'_, T>) -> Option<T> {
        clause.taken()
    }
    fn slot<'c, T: Message>(clause: &'c mut PutClause<'_, T>) -> &'c mut Option<T> {
        clause.slot()
    }
    fn run_mixed(
        clauses: &mut [AnyClause<'_>],
        order: Order,
        patience: Patience,
    ) -> Result<Winner, AltsError> {
        run_mixed(clauses, order, patience)
    }
}

impl AwaitAlts for LockFree {
    fn run_async(
        clauses: &mut [Self::AnyClause<'_>],
        order: Order,
        until: impl Future<Output = ()> + Send,
    ) -> impl Future<Output = Result<Winner, AltsError>> + Send {
        run_async(clauses, order, until)
    }
}

impl<T: Message> TakePort for Rx<T> {
    type Family = LockFree;
    type Message = T;

    fn take_clause(&self) -> TakeClause<'_, T> {
        TakeClause::new(self.handle())
    }
}

impl<T: Message> PutPort for Tx<T> {
    type Family = LockFree;
    type Message = T;

    fn put_clause(&self, slot: Option<T>) -> PutClause<'_, T> {
        PutClause::new(self.handle(), slot)
    }
}

impl<T: Message> TakePort for Channel<T> {
    type Family = LockFree;
    type Message = T;

    fn take_clause(&self) -> TakeClause<'_, T> {
        TakeClause::new(self)
    }
}

impl<T: Message> PutPort for Channel<T> {
    type Family = LockFree;
    type Message = T;

    fn put_clause(&self, slot: Option<T>) -> PutClause<'_, T> {
        PutClause::new(self, slot)
    }
}

impl AwaitClose for LockFree {
    fn closed<T: Message>(tx: &Tx<T>) -> impl Future<Output = ()> + Send {
        tx.closed()
    }
}

impl WeakProducers for LockFree {
    type WeakTx<T: Message> = WeakProducer<Channel<T>>;

    fn downgrade<T: Message>(tx: &Tx<T>) -> WeakProducer<Channel<T>> {
        tx.downgrade()
    }
    fn upgrade<T: Message>(weak: &WeakProducer<Channel<T>>) -> Option<Tx<T>> {
        weak.upgrade()
    }
}

impl Batch for LockFree {
    fn take_many<T: Message>(
        rx: &mut Rx<T>,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> Result<usize, TakeError> {
        rx.handle().take_many(limit, values)
    }
    fn put_many<T: Message>(tx: &mut Tx<T>, values: &mut VecDeque<T>) -> Result<(), BatchError> {
        tx.handle().put_many(values)
    }
}

impl AsyncBatch for LockFree {
    fn take_many_async<T: Message>(
        rx: &mut Rx<T>,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> impl Future<Output = Result<usize, TakeError>> + Send {
        rx.handle().take_many_async(limit, values)
    }
    fn put_many_async<T: Message>(
        tx: &mut Tx<T>,
        values: &mut VecDeque<T>,
    ) -> impl Future<Output = Result<(), BatchError>> + Send {
        tx.handle().put_many_async(values)
    }
}

impl Reserve for LockFree {
    type Permit<'a, T: Message> = Permit<'a, T>;

    fn try_reserve<T: Message>(tx: &Tx<T>) -> Result<Permit<'_, T>, ReserveError> {
        tx.handle().try_reserve()
    }
    fn fill<T: Message>(permit: Permit<'_, T>, value: T) -> Result<(), T> {
        permit.fill(value)
    }
}

impl BlockingReserve for LockFree {
    fn reserve<T: Message>(tx: &Tx<T>) -> Result<Permit<'_, T>, ReserveError> {
        tx.handle().reserve()
    }
}

impl AsyncReserve for LockFree {
    fn reserve_async<T: Message>(
        tx: &Tx<T>,
    ) -> impl Future<Output = Result<Permit<'_, T>, ReserveError>> + Send {
        tx.handle().reserve_async()
    }
}

impl Transforms for LockFree {
    fn open_transformed<T: Message>(
        buffer: Buffer,
        transform: impl Transform<T>,
        handler: impl Handler<T>,
    ) -> Result<(Tx<T>, Rx<T>), TransformError> {
        Channel::transformed(buffer, transform, handler).map(split)
    }
}
