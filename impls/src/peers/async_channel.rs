//! async-channel: a concurrent queue with event listeners.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | fixed, unbounded | `bounded` ("the capacity must be a positive number"), `unbounded` |
//! | many producers and consumers | crate docs: "both sides are cloneable" |
//! | identity | `Sender::same_channel`, `Receiver::same_channel` |
//! | blocking, async | `send_blocking`, `recv_blocking`; `send`, `recv` |
//! | close, keeps-buffered | `Sender::close`: "the remaining messages can still be received" |
//! | weak producers | `WeakSender`: "does not prevent the channel from being closed" |
//! | disconnect | crate docs: "when all Senders or all Receivers are dropped, the channel becomes closed" |
//!
//! Not claimed: there is no rendezvous and there are no deadlines. Waiter order and cancel safety are not
//! documented, nor what becomes of puts that wait at a close.

use ::async_channel::{Receiver, SendError, Sender, TryRecvError, TrySendError};
#[cfg(not(feature = "older-async-channel-blocking"))]
use flowmeter_harness::channel::Blocking;
use flowmeter_harness::channel::{
    Async, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

use super::answered::Answered;

/// async-channel.
#[derive(Clone, Copy, Debug)]
pub struct AsyncChannel;

impl Channels for AsyncChannel {
    type Tx<T: Message> = Sender<T>;
    type Rx<T: Message> = Receiver<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        match buffer {
            Buffer::Fixed(capacity) => Some(::async_channel::bounded(capacity.get())),
            Buffer::Unbounded => Some(::async_channel::unbounded()),
            Buffer::Rendezvous | Buffer::Dropping(_) | Buffer::Sliding(_) => None,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_tx<T: Message>(tx: &Sender<T>) -> Option<Sender<T>> {
        Some(tx.clone())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_rx<T: Message>(rx: &Receiver<T>) -> Option<Receiver<T>> {
        Some(rx.clone())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn close<T: Message>(tx: &Sender<T>) -> bool {
        // It returns whether the channel was open until now, which is not needed here.
        tx.close();
        true
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn close_rx<T: Message>(rx: &mut Receiver<T>) -> bool {
        rx.close();
        true
    }

    #[cfg(not(feature = "older-async-channel"))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn same_tx<T: Message>(one: &Sender<T>, other: &Sender<T>) -> Option<bool> {
        Some(one.same_channel(other))
    }

    #[cfg(not(feature = "older-async-channel"))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn same_rx<T: Message>(one: &Receiver<T>, other: &Receiver<T>) -> Option<bool> {
        Some(one.same_channel(other))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut Sender<T>, value: T) -> Offered<T> {
        match tx.try_send(value) {
            Ok(()) => Offered::Done,
            Err(TrySendError::Full(value)) => Offered::WouldWait(value),
            Err(TrySendError::Closed(value)) => Offered::Closed(value),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll<T: Message>(rx: &mut Receiver<T>) -> Polled<T> {
        match rx.try_recv() {
            Ok(value) => Polled::Done(value),
            Err(TryRecvError::Empty) => Polled::WouldWait,
            Err(TryRecvError::Closed) => Polled::Closed,
        }
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn closed<T>(SendError(value): SendError<T>) -> PutError<T> {
    PutError::Closed(Some(value))
}

#[cfg(not(feature = "older-async-channel-blocking"))]
impl Blocking for AsyncChannel {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<T: Message>(tx: &mut Sender<T>, value: T) -> Result<(), PutError<T>> {
        tx.send_blocking(value).map_err(closed)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take<T: Message>(rx: &mut Receiver<T>) -> Result<T, TakeError> {
        rx.recv_blocking().map_err(|_| TakeError::Closed)
    }
}

impl Async for AsyncChannel {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put_async<T: Message>(
        tx: &mut Sender<T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        Answered::new(tx.send(value), |sent: Result<_, _>| sent.map_err(closed))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_async<T: Message>(
        rx: &mut Receiver<T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send {
        Answered::new(rx.recv(), |taken: Result<_, _>| {
            taken.map_err(|_| TakeError::Closed)
        })
    }
}

#[cfg(not(feature = "older-async-channel-weak"))]
impl flowmeter_harness::channel::WeakProducers for AsyncChannel {
    type WeakTx<T: Message> = ::async_channel::WeakSender<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn downgrade<T: Message>(tx: &Sender<T>) -> ::async_channel::WeakSender<T> {
        tx.downgrade()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn upgrade<T: Message>(weak: &::async_channel::WeakSender<T>) -> Option<Sender<T>> {
        weak.upgrade()
    }
}
