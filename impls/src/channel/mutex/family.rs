//! The design as the harness sees it: both halves are the one handle.

use std::future::Future;

use flowmeter_harness::channel::{
    Alts, AltsError, Async, AwaitAlts, Blocking, Buffer, Callback, Channels, Chosen, Clause,
    Message, MixedAlts, Offered, Order, Patience, Polled, Promises, PutDeadline, PutError, PutPort,
    PutUntilError, TakeDeadline, TakeError, TakePort, TakeUntilError, Winner,
};
use flowmeter_harness::sync::Deadline;

use super::alts::{run_async, run_mixed};
use super::{AnyClause, Channel, Prepared, PutClause, TakeClause};

/// The family of [`Channel`].
#[derive(Debug)]
pub struct MutexChannels;

impl Channels for MutexChannels {
    type Tx<T: Message> = Channel<T>;
    type Rx<T: Message> = Channel<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Channel<T>, Channel<T>)> {
        let channel = Channel::new(buffer);
        Some((channel.clone(), channel))
    }
    fn another_tx<T: Message>(tx: &Channel<T>) -> Option<Channel<T>> {
        Some(tx.clone())
    }
    fn another_rx<T: Message>(rx: &Channel<T>) -> Option<Channel<T>> {
        Some(rx.clone())
    }
    fn close<T: Message>(tx: &Channel<T>) -> bool {
        Channel::close(tx);
        true
    }
    fn close_rx<T: Message>(rx: &mut Channel<T>) -> bool {
        Channel::close(rx);
        true
    }
    fn same_tx<T: Message>(one: &Channel<T>, other: &Channel<T>) -> Option<bool> {
        Some(one == other)
    }
    fn same_rx<T: Message>(one: &Channel<T>, other: &Channel<T>) -> Option<bool> {
        Some(one == other)
    }
    fn offer<T: Message>(tx: &mut Channel<T>, value: T) -> Offered<T> {
        tx.offer(value)
    }
    fn poll<T: Message>(rx: &mut Channel<T>) -> Polled<T> {
        rx.poll()
    }
}

impl Blocking for MutexChannels {
    fn put<T: Message>(tx: &mut Channel<T>, value: T) -> Result<(), PutError<T>> {
        tx.put(value)
    }
    fn take<T: Message>(rx: &mut Channel<T>) -> Result<T, TakeError> {
        rx.take()
    }
}

impl PutDeadline for MutexChannels {
    fn put_until<T: Message>(
        tx: &mut Channel<T>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        tx.put_until(value, deadline)
    }
}

impl TakeDeadline for MutexChannels {
    fn take_until<T: Message>(
        rx: &mut Channel<T>,
        deadline: Deadline,
    ) -> Result<T, TakeUntilError> {
        rx.take_until(deadline)
    }
}

impl Async for MutexChannels {
    fn put_async<T: Message>(
        tx: &mut Channel<T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        Channel::put_async(tx, value)
    }
    fn take_async<T: Message>(
        rx: &mut Channel<T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send {
        Channel::take_async(rx)
    }
}

impl Callback for MutexChannels {
    fn put_then<T: Message>(
        tx: &Channel<T>,
        value: T,
        then: impl FnOnce(Result<(), PutError<T>>) + Send + 'static,
    ) {
        tx.put_then(value, then);
    }
    fn take_then<T: Message>(
        rx: &Channel<T>,
        then: impl FnOnce(Result<T, TakeError>) + Send + 'static,
    ) {
        rx.take_then(then);
    }
}

impl Promises for MutexChannels {
    fn open_promise<T: Message + Clone>() -> (Channel<T>, Channel<T>) {
        let channel = Channel::promise();
        (channel.clone(), channel)
    }
}

impl Alts for MutexChannels {
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

impl MixedAlts for MutexChannels {
    type TakeClause<'a, T: Message> = TakeClause<'a, T>;
    type PutClause<'a, T: Message> = PutClause<'a, T>;
    type AnyClause<'c> = AnyClause<'c>;

    fn take_clause<T: Message>(rx: &Channel<T>) -> TakeClause<'_, T> {
        TakeClause::new(rx)
    }
    fn put_clause<T: Message>(tx: &Channel<T>, slot: Option<T>) -> PutClause<'_, T> {
        PutClause::new(tx, slot)
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

impl AwaitAlts for MutexChannels {
    fn run_async(
        clauses: &mut [Self::AnyClause<'_>],
        order: Order,
        until: impl Future<Output = ()> + Send,
    ) -> impl Future<Output = Result<Winner, AltsError>> + Send {
        run_async(clauses, order, until)
    }
}

impl<T: Message> TakePort for Channel<T> {
    type Family = MutexChannels;
    type Message = T;

    fn rx(&self) -> &Channel<T> {
        self
    }
}

impl<T: Message> PutPort for Channel<T> {
    type Family = MutexChannels;
    type Message = T;

    fn tx(&self) -> &Channel<T> {
        self
    }
}
