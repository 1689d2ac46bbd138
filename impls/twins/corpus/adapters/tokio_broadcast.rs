//! tokio's broadcast with one receiver: a sliding buffer. With 256 places it is unbounded for the properties, none of which
//! puts as many values.

use ::std::num::NonZeroUsize;
use ::std::sync::{Arc, Mutex};

#[cfg(not(feature = "older-broadcast"))]
use ::tokio::sync::broadcast::error::{RecvError, TryRecvError};
use ::tokio::sync::broadcast::{Receiver, Sender, channel};
#[cfg(feature = "older-broadcast")]
use ::tokio::sync::broadcast::{RecvError, TryRecvError};
use flowmeter_harness::channel::{
    Async, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

/// `tokio::sync::broadcast::channel`.
#[derive(Clone, Copy, Debug)]
pub struct Broadcast;

/// The places of an unbounded one.
const MANY: usize = 256;

/// A value, which has to be `Clone` here. Only one clone is taken.
#[derive(Debug)]
pub struct Shared<T>(Arc<Mutex<Option<T>>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }
}

impl<T> Shared<T> {
    fn new(value: T) -> Self {
        Shared(Arc::new(Mutex::new(Some(value))))
    }

    fn taken(self) -> T {
        self.0
            .lock()
            .unwrap()
            .take()
            .expect("one receiver takes it once")
    }
}

impl Channels for Broadcast {
    type Tx<T: Message> = Sender<Shared<T>>;
    type Rx<T: Message> = Receiver<Shared<T>>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        match buffer {
            Buffer::Sliding(room) if NonZeroUsize::is_power_of_two(room) => {
                Some(channel(room.get()))
            }
            Buffer::Unbounded => Some(channel(MANY)),
            _ => None,
        }
    }

    fn another_tx<T: Message>(tx: &Self::Tx<T>) -> Option<Self::Tx<T>> {
        Some(tx.clone())
    }

    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        match tx.send(Shared::new(value)) {
            Ok(_) => Offered::Done,
            Err(refused) => Offered::Closed(refused.0.taken()),
        }
    }

    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
        loop {
            match rx.try_recv() {
                Ok(value) => return Polled::Done(value.taken()),
                Err(TryRecvError::Empty) => return Polled::WouldWait,
                Err(TryRecvError::Closed) => return Polled::Closed,
                Err(TryRecvError::Lagged(_)) => {}
            }
        }
    }
}

impl Async for Broadcast {
    async fn put_async<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        match Self::offer(tx, value) {
            Offered::Done => Ok(()),
            Offered::WouldWait(value) | Offered::Closed(value) => {
                Err(PutError::Closed(Some(value)))
            }
        }
    }

    async fn take_async<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError> {
        loop {
            match rx.recv().await {
                Ok(value) => return Ok(value.taken()),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return Err(TakeError::Closed),
            }
        }
    }
}
