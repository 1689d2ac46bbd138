//! The previews of kanal 0.1.0. Their halves for threads and those for tasks are of different types.

use ::kanal::{AsyncReceiver, AsyncSender, Receiver, Sender};
use flowmeter_harness::channel::{
    Async, Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

use super::answered::Answered;

/// kanal.
#[derive(Clone, Copy, Debug)]
pub struct Kanal;

impl Channels for Kanal {
    type Tx<T: Message> = (Sender<T>, AsyncSender<T>);
    type Rx<T: Message> = (Receiver<T>, AsyncReceiver<T>);

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        let (tx, rx) = match buffer {
            Buffer::Rendezvous => ::kanal::bounded(0),
            Buffer::Fixed(capacity) => ::kanal::bounded(capacity.get()),
            Buffer::Unbounded => ::kanal::unbounded(),
            Buffer::Dropping(_) | Buffer::Sliding(_) => return None,
        };
        let of_tasks = (tx.clone_async(), rx.clone_async());
        Some(((tx, of_tasks.0), (rx, of_tasks.1)))
    }

    fn another_tx<T: Message>((tx, of_tasks): &Self::Tx<T>) -> Option<Self::Tx<T>> {
        Some((tx.clone(), of_tasks.clone()))
    }

    fn another_rx<T: Message>((rx, of_tasks): &Self::Rx<T>) -> Option<Self::Rx<T>> {
        Some((rx.clone(), of_tasks.clone()))
    }

    fn offer<T: Message>((_, tx): &mut Self::Tx<T>, value: T) -> Offered<T> {
        let mut slot = Some(value);
        let answer = tx.try_send_option(&mut slot);
        match (answer, slot) {
            (Ok(_), None) => Offered::Done,
            (Ok(_), Some(value)) => Offered::WouldWait(value),
            (Err(_), Some(value)) => Offered::Closed(value),
            (Err(_), None) => unreachable!("what is refused is left in the option"),
        }
    }

    fn poll<T: Message>((rx, _): &mut Self::Rx<T>) -> Polled<T> {
        match rx.try_recv() {
            Ok(Some(value)) => Polled::Done(value),
            Ok(None) => Polled::WouldWait,
            Err(_) => Polled::Closed,
        }
    }
}

impl Blocking for Kanal {
    fn put<T: Message>((tx, _): &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        tx.send(value).map_err(|_| PutError::Closed(None))
    }

    fn take<T: Message>((rx, _): &mut Self::Rx<T>) -> Result<T, TakeError> {
        rx.recv().map_err(|_| TakeError::Closed)
    }
}

impl Async for Kanal {
    fn put_async<T: Message>(
        (_, tx): &mut Self::Tx<T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        let sent = |sent: Result<_, _>| sent.map_err(|_| PutError::Closed(None));
        Answered::new(tx.send(value), sent)
    }

    fn take_async<T: Message>(
        (_, rx): &mut Self::Rx<T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send {
        let taken = |taken: Result<_, _>| taken.map_err(|_| TakeError::Closed);
        Answered::new(rx.recv(), taken)
    }
}
