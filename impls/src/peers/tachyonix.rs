//! tachyonix: a bounded async mpsc over a queue without locks.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | fixed | `channel`: any capacity but 0 |
//! | many producers | crate docs: "multi-producer, single-consumer (MPSC) bounded channel" |
//! | async | `Sender::send`, `Receiver::recv` |
//! | close, keeps-buffered | `Sender::close`, `Receiver::close`: "Messages that were already sent can still be received" |
//! | disconnect | crate docs, "Disconnection": "once all `Sender`s are dropped or once the `Receiver` is dropped" |
//!
//! Not claimed: halves have no identity, and there is no blocking form. Deadlines are futures of the caller. The order
//! of waiting senders and what a dropped send or receive leaves are not documented.

use ::tachyonix::{Receiver, RecvError, SendError, Sender, TryRecvError, TrySendError};
use flowmeter_harness::channel::{
    Async, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

use super::answered::Answered;

/// tachyonix.
#[derive(Clone, Copy, Debug)]
pub struct Tachyonix;

impl Channels for Tachyonix {
    type Tx<T: Message> = Sender<T>;
    type Rx<T: Message> = Receiver<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        match buffer {
            Buffer::Fixed(capacity) => Some(::tachyonix::channel(capacity.get())),
            _ => None,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_tx<T: Message>(tx: &Sender<T>) -> Option<Sender<T>> {
        Some(tx.clone())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn close<T: Message>(tx: &Sender<T>) -> bool {
        tx.close();
        true
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
        match rx.try_recv() {
            Ok(value) => Polled::Done(value),
            Err(TryRecvError::Empty) => Polled::WouldWait,
            Err(TryRecvError::Closed) => Polled::Closed,
        }
    }
}

impl Async for Tachyonix {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put_async<T: Message>(
        tx: &mut Sender<T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        Answered::new(tx.send(value), |sent: Result<_, SendError<T>>| {
            sent.map_err(|SendError(value)| PutError::Closed(Some(value)))
        })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_async<T: Message>(
        rx: &mut Receiver<T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send {
        Answered::new(rx.recv(), |taken: Result<T, RecvError>| {
            taken.map_err(|_| TakeError::Closed)
        })
    }
}
