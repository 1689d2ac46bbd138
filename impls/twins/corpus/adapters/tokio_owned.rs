//! tokio's mpsc by owned permits. A put reserves room, looks whether the channel was closed meanwhile, and then releases the
//! permit or fills it. A permit that is dropped is released.

use ::tokio::sync::mpsc::error::{TryRecvError, TrySendError};
use ::tokio::sync::mpsc::{self, OwnedPermit, Receiver, Sender};
use flowmeter_harness::channel::{
    Async, AsyncReserve, Buffer, Channels, Message, Offered, Polled, PutError, Reserve, ReserveError,
    TakeError,
};

use super::answered::Answered;

/// `tokio::sync::mpsc::channel` by owned permits.
#[derive(Clone, Copy, Debug)]
pub struct Owned;

/// Fills the permit, or gives it back where the channel is closed.
fn fill<T: Message>(permit: OwnedPermit<T>, tx: &Sender<T>, value: T) -> Result<(), T> {
    if tx.is_closed() {
        let _ = permit.release();
        return Err(value);
    }
    let _ = permit.send(value);
    Ok(())
}

impl Channels for Owned {
    type Tx<T: Message> = Sender<T>;
    type Rx<T: Message> = Receiver<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        match buffer {
            Buffer::Fixed(capacity) => Some(mpsc::channel(capacity.get())),
            _ => None,
        }
    }

    fn another_tx<T: Message>(tx: &Sender<T>) -> Option<Sender<T>> {
        Some(tx.clone())
    }

    fn close_rx<T: Message>(rx: &mut Receiver<T>) -> bool {
        rx.close();
        true
    }

    fn offer<T: Message>(tx: &mut Sender<T>, value: T) -> Offered<T> {
        match tx.clone().try_reserve_owned() {
            Ok(permit) => match fill(permit, tx, value) {
                Ok(()) => Offered::Done,
                Err(value) => Offered::Closed(value),
            },
            Err(TrySendError::Full(_)) => Offered::WouldWait(value),
            Err(TrySendError::Closed(_)) => Offered::Closed(value),
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

impl Async for Owned {
    async fn put_async<T: Message>(tx: &mut Sender<T>, value: T) -> Result<(), PutError<T>> {
        let tx = &*tx;
        match tx.clone().reserve_owned().await {
            Ok(permit) => fill(permit, tx, value).map_err(|value| PutError::Closed(Some(value))),
            Err(_) => Err(PutError::Closed(Some(value))),
        }
    }

    fn take_async<T: Message>(
        rx: &mut Receiver<T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send {
        Answered::new(rx.recv(), |taken: Option<_>| taken.ok_or(TakeError::Closed))
    }
}

/// A permit that is released when it is dropped.
pub struct Released<T: Message>(Option<OwnedPermit<T>>);

impl<T: Message> Drop for Released<T> {
    fn drop(&mut self) {
        drop(self.0.take().map(OwnedPermit::release));
    }
}

impl Reserve for Owned {
    type Permit<'a, T: Message> = Released<T>;

    fn try_reserve<T: Message>(tx: &Sender<T>) -> Result<Released<T>, ReserveError> {
        match tx.clone().try_reserve_owned() {
            Ok(permit) => Ok(Released(Some(permit))),
            Err(TrySendError::Full(_)) => Err(ReserveError::WouldWait),
            Err(TrySendError::Closed(_)) => Err(ReserveError::Closed),
        }
    }

    fn fill<T: Message>(mut permit: Released<T>, value: T) -> Result<(), T> {
        let permit = permit.0.take().expect("it is filled once");
        drop(permit.send(value));
        Ok(())
    }
}

impl AsyncReserve for Owned {
    async fn reserve_async<T: Message>(tx: &Sender<T>) -> Result<Released<T>, ReserveError> {
        let reserved = tx.clone().reserve_owned().await;
        let permit = reserved.map_err(|_| ReserveError::Closed)?;
        Ok(Released(Some(permit)))
    }
}
