//! The same operations by thread or by future, so that a property is written once for both.

use std::marker::PhantomData;

use flowmeter_harness::channel::{Async, Blocking, Channels, Message, PutError, TakeError};
use flowmeter_harness::sync::World;

/// How a thread of a model puts and takes.
pub(super) trait Form<C: Channels>: 'static {
    fn put<T: Message>(tx: &mut C::Tx<T>, value: T) -> Result<(), PutError<T>>;
    fn take<T: Message>(rx: &mut C::Rx<T>) -> Result<T, TakeError>;
}

/// Holds up its thread.
pub(super) struct ByThread;

/// Awaits on its thread.
pub(super) struct ByFuture<W>(PhantomData<W>);

impl<C: Blocking> Form<C> for ByThread {
    fn put<T: Message>(tx: &mut C::Tx<T>, value: T) -> Result<(), PutError<T>> {
        C::put(tx, value)
    }
    fn take<T: Message>(rx: &mut C::Rx<T>) -> Result<T, TakeError> {
        C::take(rx)
    }
}

impl<C: Async, W: World> Form<C> for ByFuture<W> {
    fn put<T: Message>(tx: &mut C::Tx<T>, value: T) -> Result<(), PutError<T>> {
        W::block_on(C::put_async(tx, value))
    }
    fn take<T: Message>(rx: &mut C::Rx<T>) -> Result<T, TakeError> {
        W::block_on(C::take_async(rx))
    }
}
