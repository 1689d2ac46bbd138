//! futures-channel's unbounded mpsc: an intrusive queue, and one waker for the receiver.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | unbounded | `mpsc::unbounded`: "will send as many messages as you'd like" |
//! | many producers | `mpsc`: "multi-producer, single-consumer" |
//! | async | `UnboundedReceiver` is a `Stream` |
//! | identity | `UnboundedSender::same_receiver` |
//! | close, keeps-buffered | `UnboundedReceiver::close`: "prevents any further messages from being sent", "while still enabling the receiver to drain messages that are buffered"; `UnboundedSender::close_channel` |
//! | disconnect | `mpsc`, "Disconnection": an error for senders; the receiver ends "when all `Sender`s have been dropped" |
//!
//! Not claimed: a bounded channel has a slot more for each sender, so it has no fixed capacity. There is no blocking form
//! and no rendezvous. Nothing is said about a dropped receive.

use ::futures_channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use ::futures_util::StreamExt;
use flowmeter_harness::channel::{
    Async, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

use super::answered::Answered;

/// `futures_channel::mpsc::unbounded`.
#[derive(Clone, Copy, Debug)]
pub struct FuturesChannel;

impl Channels for FuturesChannel {
    type Tx<T: Message> = UnboundedSender<T>;
    type Rx<T: Message> = UnboundedReceiver<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(UnboundedSender<T>, UnboundedReceiver<T>)> {
        matches!(buffer, Buffer::Unbounded).then(unbounded)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_tx<T: Message>(tx: &UnboundedSender<T>) -> Option<UnboundedSender<T>> {
        Some(tx.clone())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn close<T: Message>(tx: &UnboundedSender<T>) -> bool {
        tx.close_channel();
        true
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn close_rx<T: Message>(rx: &mut UnboundedReceiver<T>) -> bool {
        rx.close();
        true
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn same_tx<T: Message>(one: &UnboundedSender<T>, other: &UnboundedSender<T>) -> Option<bool> {
        Some(one.same_receiver(other))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut UnboundedSender<T>, value: T) -> Offered<T> {
        match tx.unbounded_send(value) {
            Ok(()) => Offered::Done,
            Err(closed) => Offered::Closed(closed.into_inner()),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    #[allow(
        deprecated,
        reason = "`try_recv`, which replaces it, is not in the older releases of scripts/corpus"
    )]
    fn poll<T: Message>(rx: &mut UnboundedReceiver<T>) -> Polled<T> {
        match rx.try_next() {
            Ok(Some(value)) => Polled::Done(value),
            Ok(None) => Polled::Closed,
            Err(_) => Polled::WouldWait,
        }
    }
}

impl Async for FuturesChannel {
    #[inline]
    async fn put_async<T: Message>(
        tx: &mut UnboundedSender<T>,
        value: T,
    ) -> Result<(), PutError<T>> {
        let sent = tx.unbounded_send(value);
        sent.map_err(|closed| PutError::Closed(Some(closed.into_inner())))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_async<T: Message>(
        rx: &mut UnboundedReceiver<T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send {
        Answered::new(rx.next(), |taken: Option<T>| taken.ok_or(TakeError::Closed))
    }
}
