//! How pipelines put and take at their channels.

use flowmeter_harness::channel::{Async, Buffer, Channels, Message, PutError, TakeError};

/// core.async's `(chan 1)` for the results of an item.
pub(crate) const ONE: Buffer = Buffer::fixed(1);

/// A channel for the pipeline's own use.
pub(crate) fn open<C: Channels, T: Message>(buffer: Buffer) -> (C::Tx<T>, C::Rx<T>) {
    C::open(buffer).expect("the family has the buffers that the pipeline was made with")
}

/// A pipeline waits with one put and one take for each of its channels.
pub(crate) const TOO_MANY: &str = "others leave room for a pipeline to wait at its ports";

/// The next value; `None` once the channel is closed and empty.
///
/// # Panics
/// Where too many others wait already.
pub(crate) async fn next<C: Async, T: Message>(rx: &mut C::Rx<T>) -> Option<T> {
    match C::take_async(rx).await {
        Ok(value) => Some(value),
        Err(TakeError::Closed) => None,
        Err(TakeError::TooManyWaiters) => panic!("{TOO_MANY}"),
    }
}

/// Puts; `false` when the channel is closed.
///
/// # Panics
/// As [`next`].
pub(crate) async fn put<C: Async, T: Message>(tx: &mut C::Tx<T>, value: T) -> bool {
    match C::put_async(tx, value).await {
        Ok(()) => true,
        Err(PutError::Closed(_)) => false,
        Err(PutError::TooManyWaiters(_)) => panic!("{TOO_MANY}"),
    }
}
