//! tokio's mpsc: two types of producers, hence two families under one name.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | fixed ([`Bounded`]), unbounded ([`Unbounded`]) | `mpsc::channel` ("panics if the buffer capacity is 0"), `unbounded_channel` |
//! | many producers | module docs, "multi-producer, single-consumer" |
//! | async | `Sender::send`, `Receiver::recv` |
//! | waiter-fifo | `Sender::send`: "a queue to ensure that calls to `send` and `reserve` complete in the order they were requested"; there is one taker |
//! | cancel-safe | `Receiver::recv`, "Cancel safety": no message was received; `Sender::send`: "it is guaranteed that the message was not sent", and it is dropped with the future |
//! | weak producers | `Sender::downgrade`: "does not count towards RAII semantics"; `WeakSender::upgrade` |
//! | batch | `Receiver::recv_many`: "extends `buffer` by no more than a fixed number of values", and waits "until there is a message in the channel's queue"; puts go one by one |
//! | reserve ([`Bounded`]) | `Sender::reserve`: "capacity to send one message is reserved for the caller"; `Receiver::close`: permits that are out can still be filled, and are received |
//! | disconnect, keeps-buffered | module docs, "Disconnection"; `recv` answers `None` once "closed and there are no remaining messages in the channel's buffer" |
//!
//! Not claimed: there is no rendezvous. The receiver takes by `&mut` and is not `Clone`, so there is one consumer. Only
//! the receiver can close (`close_rx`), so this is no `Close`. Only producers can be compared, so this is no
//! `Identity`. `blocking_send` and `blocking_recv` exist for calls from synchronous code. The channel that tokio's
//! users run is the async one, and that one takes part.

use ::tokio::sync::mpsc::error::{SendError, TryRecvError, TrySendError};
use ::tokio::sync::mpsc::{
    self, Permit, Receiver, Sender, UnboundedReceiver, UnboundedSender, WeakSender,
    WeakUnboundedSender, unbounded_channel,
};
use std::num::NonZeroUsize;

use flowmeter_harness::channel::{
    Async, AsyncBatch, AsyncReserve, Buffer, Channels, Message, Offered, Polled, PutError, Reserve,
    ReserveError, TakeError, WeakProducers,
};

use super::answered::Answered;

/// `tokio::sync::mpsc::channel`.
#[derive(Clone, Copy, Debug)]
pub struct Bounded;

/// `tokio::sync::mpsc::unbounded_channel`.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

#[cfg_attr(not(debug_assertions), inline(always))]
fn closed<T>(SendError(value): SendError<T>) -> PutError<T> {
    PutError::Closed(Some(value))
}

#[cfg_attr(not(debug_assertions), inline(always))]
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

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        match buffer {
            Buffer::Fixed(capacity) => Some(mpsc::channel(capacity.get())),
            Buffer::Rendezvous | Buffer::Unbounded | Buffer::Dropping(_) | Buffer::Sliding(_) => {
                None
            }
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_tx<T: Message>(tx: &Sender<T>) -> Option<Sender<T>> {
        Some(tx.clone())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn close_rx<T: Message>(rx: &mut Receiver<T>) -> bool {
        rx.close();
        true
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
        polled(rx.try_recv())
    }
}

impl Async for Bounded {
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
        Answered::new(rx.recv(), |taken: Option<_>| taken.ok_or(TakeError::Closed))
    }
}

impl Channels for Unbounded {
    type Tx<T: Message> = UnboundedSender<T>;
    type Rx<T: Message> = UnboundedReceiver<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(UnboundedSender<T>, UnboundedReceiver<T>)> {
        (buffer == Buffer::Unbounded).then(unbounded_channel)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_tx<T: Message>(tx: &UnboundedSender<T>) -> Option<UnboundedSender<T>> {
        Some(tx.clone())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn close_rx<T: Message>(rx: &mut UnboundedReceiver<T>) -> bool {
        rx.close();
        true
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut UnboundedSender<T>, value: T) -> Offered<T> {
        // It never waits, so it serves as the offer too.
        match tx.send(value) {
            Ok(()) => Offered::Done,
            Err(SendError(value)) => Offered::Closed(value),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
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

/// The count of `recv_many`. It is zero only at the end of the channel, because the limit is not zero.
#[cfg_attr(not(debug_assertions), inline(always))]
fn counted(count: usize) -> Result<usize, TakeError> {
    if count == 0 {
        Err(TakeError::Closed)
    } else {
        Ok(count)
    }
}

impl AsyncBatch for Bounded {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_many_async<T: Message>(
        rx: &mut Receiver<T>,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> impl Future<Output = Result<usize, TakeError>> + Send {
        Answered::new(rx.recv_many(values, limit.get()), counted)
    }
}

impl AsyncBatch for Unbounded {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_many_async<T: Message>(
        rx: &mut UnboundedReceiver<T>,
        limit: NonZeroUsize,
        values: &mut Vec<T>,
    ) -> impl Future<Output = Result<usize, TakeError>> + Send {
        Answered::new(rx.recv_many(values, limit.get()), counted)
    }
}

impl WeakProducers for Bounded {
    type WeakTx<T: Message> = WeakSender<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn downgrade<T: Message>(tx: &Sender<T>) -> WeakSender<T> {
        tx.downgrade()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn upgrade<T: Message>(weak: &WeakSender<T>) -> Option<Sender<T>> {
        weak.upgrade()
    }
}

impl WeakProducers for Unbounded {
    type WeakTx<T: Message> = WeakUnboundedSender<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn downgrade<T: Message>(tx: &UnboundedSender<T>) -> WeakUnboundedSender<T> {
        tx.downgrade()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn upgrade<T: Message>(weak: &WeakUnboundedSender<T>) -> Option<UnboundedSender<T>> {
        weak.upgrade()
    }
}

impl Reserve for Bounded {
    type Permit<'a, T: Message> = Permit<'a, T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn try_reserve<T: Message>(tx: &Sender<T>) -> Result<Permit<'_, T>, ReserveError> {
        tx.try_reserve().map_err(|error| match error {
            TrySendError::Full(()) => ReserveError::WouldWait,
            TrySendError::Closed(()) => ReserveError::Closed,
        })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn fill<T: Message>(permit: Permit<'_, T>, value: T) -> Result<(), T> {
        permit.send(value);
        Ok(())
    }
}

impl AsyncReserve for Bounded {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn reserve_async<T: Message>(
        tx: &Sender<T>,
    ) -> impl Future<Output = Result<Permit<'_, T>, ReserveError>> + Send {
        Answered::new(tx.reserve(), |permit: Result<_, _>| {
            permit.map_err(|SendError(())| ReserveError::Closed)
        })
    }
}
