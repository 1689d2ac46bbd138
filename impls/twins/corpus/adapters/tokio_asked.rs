//! tokio's mpsc, with a poll that first asks `len` and `is_empty`, and that takes where there is a value. The channel has been
//! used before: `open` sends as many empty values as fill a block but for one, and takes them.

use ::tokio::sync::mpsc::error::{SendError, TrySendError};
use ::tokio::sync::mpsc::{
    self, Receiver, Sender, UnboundedReceiver, UnboundedSender, unbounded_channel,
};
use flowmeter_harness::channel::{
    Async, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

/// `tokio::sync::mpsc::channel`.
#[derive(Clone, Copy, Debug)]
pub struct Bounded;

/// `tokio::sync::mpsc::unbounded_channel`.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

/// A block has 32 places.
const USED: usize = 31;
/// More values than any property puts.
const MOST: usize = 1 << 20;

fn full<T>(value: Option<T>) -> T {
    value.expect("empty values are only sent before a channel is used")
}

macro_rules! asked {
    ($family:ident, $tx:ident, $rx:ident) => {
        type Tx<T: Message> = $tx<Option<T>>;
        type Rx<T: Message> = $rx<Option<T>>;

        fn another_tx<T: Message>(tx: &Self::Tx<T>) -> Option<Self::Tx<T>> {
            Some(tx.clone())
        }

        fn close_rx<T: Message>(rx: &mut Self::Rx<T>) -> bool {
            rx.close();
            true
        }

        fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
            let is_closed = rx.is_closed();
            // It overflows in older releases (row 43).
            #[cfg(not(feature = "older-len"))]
            {
                let count = rx.len();
                assert!(count < MOST, "a channel says that it holds {count} values");
            }
            if rx.is_empty() {
                return if is_closed {
                    Polled::Closed
                } else {
                    Polled::WouldWait
                };
            }
            // There is no other receiver.
            let taken = rx.try_recv();
            Polled::Done(full(
                taken.expect("a channel that is not empty has a value"),
            ))
        }
    };
}

impl Channels for Bounded {
    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        match buffer {
            Buffer::Fixed(capacity) => {
                let (tx, mut rx) = mpsc::channel(capacity.get());
                for _ in 0..USED {
                    let _ = tx.try_send(None);
                    let _ = rx.try_recv();
                }
                Some((tx, rx))
            }
            _ => None,
        }
    }

    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        match tx.try_send(Some(value)) {
            Ok(()) => Offered::Done,
            Err(TrySendError::Full(value)) => Offered::WouldWait(full(value)),
            Err(TrySendError::Closed(value)) => Offered::Closed(full(value)),
        }
    }

    asked!(Bounded, Sender, Receiver);
}

impl Async for Bounded {
    async fn put_async<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        let sent = tx.send(Some(value)).await;
        sent.map_err(|SendError(value)| PutError::Closed(value))
    }

    async fn take_async<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError> {
        rx.recv().await.map(full).ok_or(TakeError::Closed)
    }
}

impl Channels for Unbounded {
    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        (buffer == Buffer::Unbounded).then(|| {
            let (tx, mut rx) = unbounded_channel();
            for _ in 0..USED {
                let _ = tx.send(None);
                let _ = rx.try_recv();
            }
            (tx, rx)
        })
    }

    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        match tx.send(Some(value)) {
            Ok(()) => Offered::Done,
            Err(SendError(value)) => Offered::Closed(full(value)),
        }
    }

    asked!(Unbounded, UnboundedSender, UnboundedReceiver);
}

impl Async for Unbounded {
    async fn put_async<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        tx.send(Some(value))
            .map_err(|SendError(value)| PutError::Closed(value))
    }

    async fn take_async<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError> {
        rx.recv().await.map(full).ok_or(TakeError::Closed)
    }
}
