//! The short form of `suite!`: a channel of std behind an adapter of this file, on real threads.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};

use flowmeter_plugin::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

struct Bounded;

impl Channels for Bounded {
    type Tx<T: Message> = SyncSender<T>;
    type Rx<T: Message> = Receiver<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(SyncSender<T>, Receiver<T>)> {
        match buffer {
            Buffer::Fixed(capacity) => Some(sync_channel(capacity.get())),
            _ => None,
        }
    }
    fn another_tx<T: Message>(tx: &SyncSender<T>) -> Option<SyncSender<T>> {
        Some(tx.clone())
    }
    fn offer<T: Message>(tx: &mut SyncSender<T>, value: T) -> Offered<T> {
        match tx.try_send(value) {
            Ok(()) => Offered::Done,
            Err(TrySendError::Full(value)) => Offered::WouldWait(value),
            Err(TrySendError::Disconnected(value)) => Offered::Closed(value),
        }
    }
    fn poll<T: Message>(rx: &mut Receiver<T>) -> Polled<T> {
        match rx.try_recv() {
            Ok(value) => Polled::Done(value),
            Err(TryRecvError::Empty) => Polled::WouldWait,
            Err(TryRecvError::Disconnected) => Polled::Closed,
        }
    }
}

impl Blocking for Bounded {
    fn put<T: Message>(tx: &mut SyncSender<T>, value: T) -> Result<(), PutError<T>> {
        tx.send(value).map_err(|why| PutError::Closed(Some(why.0)))
    }
    fn take<T: Message>(rx: &mut Receiver<T>) -> Result<T, TakeError> {
        rx.recv().map_err(|_| TakeError::Closed)
    }
}

flowmeter_plugin::suite!(Bounded: KeepsBuffered, Disconnect);
