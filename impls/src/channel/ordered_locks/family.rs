//! The design as the harness sees it: both halves are the one handle.

use std::future::Future;

use flowmeter_harness::channel::{
    Alts, AltsError, Async, Blocking, Buffer, Callback, Channels, Chosen, Clause, Message, Offered,
    Order, Patience, Polled, Promises, PutDeadline, PutError, PutUntilError, TakeDeadline,
    TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::{Channel, Prepared};

/// The family of [`Channel`].
#[derive(Debug)]
pub struct OrderedLocks;

impl Channels for OrderedLocks {
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

impl Blocking for OrderedLocks {
    fn put<T: Message>(tx: &mut Channel<T>, value: T) -> Result<(), PutError<T>> {
        tx.put(value)
    }
    fn take<T: Message>(rx: &mut Channel<T>) -> Result<T, TakeError> {
        rx.take()
    }
}

impl PutDeadline for OrderedLocks {
    fn put_until<T: Message>(
        tx: &mut Channel<T>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        tx.put_until(value, deadline)
    }
}

impl TakeDeadline for OrderedLocks {
    fn take_until<T: Message>(
        rx: &mut Channel<T>,
        deadline: Deadline,
    ) -> Result<T, TakeUntilError> {
        rx.take_until(deadline)
    }
}

impl Async for OrderedLocks {
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

impl Callback for OrderedLocks {
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

impl Promises for OrderedLocks {
    fn open_promise<T: Message + Clone>() -> (Channel<T>, Channel<T>) {
        let channel = Channel::promise();
        (channel.clone(), channel)
    }
}

impl Alts for OrderedLocks {
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
