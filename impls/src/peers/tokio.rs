//! tokio's mpsc: two types of producers, hence two families under one name.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | fixed ([`Bounded`]), unbounded ([`Unbounded`]) | `mpsc::channel` ("panics if the buffer capacity is 0"), `unbounded_channel` |
//! | many producers | module docs, "multi-producer, single-consumer" |
//! | async | `Sender::send`, `Receiver::recv` |
//! | waiter-fifo | `Sender::send`: "a queue to ensure that calls to `send` and `reserve` complete in the order they were requested"; there is one taker |
//! | cancel-safe | `Receiver::recv`, "Cancel safety": no message was received; `Sender::send`: "it is guaranteed that the message was not sent", and it is dropped with the future |
//! | disconnect, keeps-buffered | module docs, "Disconnection"; `recv` answers `None` once "closed and there are no remaining messages in the channel's buffer" |
//!
//! Not claimed: there is no rendezvous. The receiver takes by `&mut` and is not `Clone`: one consumer.
//! Only the receiver can close (`close_rx`), so this is no `Close`; only producers can be compared, so this is no
//! `Identity`. `blocking_send` and `blocking_recv` are there for crossing over from synchronous code; the
//! channel that tokio's users run is the async one, and that one takes part.

use ::tokio::sync::mpsc::error::{SendError, TryRecvError, TrySendError};
use ::tokio::sync::mpsc::{
    self, Receiver, Sender, UnboundedReceiver, UnboundedSender, unbounded_channel,
};
use flowmeter_harness::channel::{
    Async, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

use super::answered::Answered;

/// `tokio::sync::mpsc::channel`.
#[derive(Clone, Copy, Debug)]
pub struct Bounded;

/// `tokio::sync::mpsc::unbounded_channel`.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

#[inline]
fn closed<T>(SendError(value): SendError<T>) -> PutError<T> {
    PutError::Closed(Some(value))
}

#[inline]
fn polled<T>(answer: Result<T, TryRecvError>) -> Polled<T> {
    match answer {
        Ok(value) => Polled::Done(value),
        Err(TryRecvError::Empty) => Polled::WouldWait,
        Err(TryRecvError::Disconnected) => Polled::Closed,
    }
}

impl Channels for Bounded {
    type Tx<T: Message> = Sender<T>;
    type Rx<T: Message> = Receiver<T>;

    #[inline]
    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        match buffer {
            Buffer::Fixed(capacity) => Some(mpsc::channel(capacity.get())),
            Buffer::Rendezvous | Buffer::Unbounded | Buffer::Dropping(_) | Buffer::Sliding(_) => {
                None
            }
        }
    }

    #[inline]
    fn another_tx<T: Message>(tx: &Sender<T>) -> Option<Sender<T>> {
        Some(tx.clone())
    }

    #[inline]
    fn close_rx<T: Message>(rx: &mut Receiver<T>) -> bool {
        rx.close();
        true
    }

    #[inline]
    fn offer<T: Message>(tx: &mut Sender<T>, value: T) -> Offered<T> {
        match tx.try_send(value) {
            Ok(()) => Offered::Done,
            Err(TrySendError::Full(value)) => Offered::WouldWait(value),
            Err(TrySendError::Closed(value)) => Offered::Closed(value),
        }
    }

    #[inline]
    fn poll<T: Message>(rx: &mut Receiver<T>) -> Polled<T> {
        polled(rx.try_recv())
    }
}

impl Async for Bounded {
    #[inline]
    fn put_async<T: Message>(
        tx: &mut Sender<T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        Answered::new(tx.send(value), |sent: Result<_, _>| sent.map_err(closed))
    }

    #[inline]
    fn take_async<T: Message>(
        rx: &mut Receiver<T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send {
        Answered::new(rx.recv(), |taken: Option<_>| taken.ok_or(TakeError::Closed))
    }
}

impl Channels for Unbounded {
    type Tx<T: Message> = UnboundedSender<T>;
    type Rx<T: Message> = UnboundedReceiver<T>;

    #[inline]
    fn open<T: Message>(buffer: Buffer) -> Option<(UnboundedSender<T>, UnboundedReceiver<T>)> {
        (buffer == Buffer::Unbounded).then(unbounded_channel)
    }

    #[inline]
    fn another_tx<T: Message>(tx: &UnboundedSender<T>) -> Option<UnboundedSender<T>> {
        Some(tx.clone())
    }

    #[inline]
    fn close_rx<T: Message>(rx: &mut UnboundedReceiver<T>) -> bool {
        rx.close();
        true
    }

    #[inline]
    fn offer<T: Message>(tx: &mut UnboundedSender<T>, value: T) -> Offered<T> {
        // Never waits, so it is its own offer.
        match tx.send(value) {
            Ok(()) => Offered::Done,
            Err(SendError(value)) => Offered::Closed(value),
        }
    }

    #[inline]
    fn poll<T: Message>(rx: &mut UnboundedReceiver<T>) -> Polled<T> {
        polled(rx.try_recv())
    }
}

impl Async for Unbounded {
    #[inline]
    async fn put_async<T: Message>(
        tx: &mut UnboundedSender<T>,
        value: T,
    ) -> Result<(), PutError<T>> {
        tx.send(value).map_err(closed)
    }

    #[inline]
    async fn take_async<T: Message>(rx: &mut UnboundedReceiver<T>) -> Result<T, TakeError> {
        rx.recv().await.ok_or(TakeError::Closed)
    }
}
