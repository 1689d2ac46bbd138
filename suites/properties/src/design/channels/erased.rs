//! Erased channels as a family of their own: harness code for any family runs on them too.

use std::future::Future;

use flowmeter_harness::channel::{
    Async, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

use super::{Rx, Tx};

/// The family of erased channels. It opens none itself; a design does.
pub(crate) enum Erased {}

impl Channels for Erased {
    type Tx<T: Message> = Tx<T>;
    type Rx<T: Message> = Rx<T>;

    fn open<T: Message>(_: Buffer) -> Option<(Tx<T>, Rx<T>)> {
        None
    }
    fn close<T: Message>(tx: &Tx<T>) -> bool {
        tx.close()
    }
    fn offer<T: Message>(tx: &mut Tx<T>, value: T) -> Offered<T> {
        tx.offer(value)
    }
    fn poll<T: Message>(rx: &mut Rx<T>) -> Polled<T> {
        rx.poll()
    }
}

impl Async for Erased {
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
