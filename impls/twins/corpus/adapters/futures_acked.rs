//! A rendezvous of futures-channel: each value goes through an unbounded channel together with a oneshot sender, by which the
//! consumer tells the producer that it has the value.

use ::std::future::poll_fn;
use ::std::pin::pin;
use ::std::sync::Arc;
use ::std::sync::atomic::{AtomicBool, Ordering};

use ::futures_channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use ::futures_channel::oneshot;
use ::futures_util::StreamExt;
use flowmeter_harness::channel::{
    Async, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

/// `futures_channel::mpsc::unbounded` with answers.
#[derive(Clone, Copy, Debug)]
pub struct Acked;

/// A value, and the sender of its answer. An offer to a consumer that waits has none.
pub type Sent<T> = (T, Option<oneshot::Sender<()>>);

impl Channels for Acked {
    /// With whether the consumer waits.
    type Tx<T: Message> = (UnboundedSender<Sent<T>>, Arc<AtomicBool>);
    type Rx<T: Message> = (UnboundedReceiver<Sent<T>>, Arc<AtomicBool>);

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        (buffer == Buffer::Rendezvous).then(|| {
            let (tx, rx) = unbounded();
            let waits = Arc::new(AtomicBool::new(false));
            ((tx, Arc::clone(&waits)), (rx, waits))
        })
    }

    fn another_tx<T: Message>((tx, waits): &Self::Tx<T>) -> Option<Self::Tx<T>> {
        Some((tx.clone(), Arc::clone(waits)))
    }

    fn offer<T: Message>((tx, waits): &mut Self::Tx<T>, value: T) -> Offered<T> {
        if tx.is_closed() {
            return Offered::Closed(value);
        }
        if !waits.swap(false, Ordering::SeqCst) {
            return Offered::WouldWait(value);
        }
        match tx.unbounded_send((value, None)) {
            Ok(()) => Offered::Done,
            Err(refused) => Offered::Closed(refused.into_inner().0),
        }
    }

    #[allow(deprecated, reason = "its successor is not in the older release")]
    fn poll<T: Message>((rx, _): &mut Self::Rx<T>) -> Polled<T> {
        loop {
            match rx.try_next() {
                Ok(Some((value, ack))) => {
                    // A put that was dropped meanwhile takes its value along.
                    if ack.is_none_or(|ack| ack.send(()).is_ok()) {
                        return Polled::Done(value);
                    }
                }
                Ok(None) => return Polled::Closed,
                Err(_) => return Polled::WouldWait,
            }
        }
    }
}

impl Async for Acked {
    async fn put_async<T: Message>((tx, _): &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        let (ack, acked) = oneshot::channel();
        if let Err(refused) = tx.unbounded_send((value, Some(ack))) {
            return Err(PutError::Closed(Some(refused.into_inner().0)));
        }
        acked.await.map_err(|_| PutError::Closed(None))
    }

    async fn take_async<T: Message>((rx, waits): &mut Self::Rx<T>) -> Result<T, TakeError> {
        loop {
            let mut next = pin!(rx.next());
            let taken = poll_fn(|context| {
                waits.store(true, Ordering::SeqCst);
                let polled = next.as_mut().poll(context);
                if polled.is_ready() {
                    waits.store(false, Ordering::SeqCst);
                }
                polled
            });
            match taken.await {
                Some((value, ack)) => {
                    if ack.is_none_or(|ack| ack.send(()).is_ok()) {
                        return Ok(value);
                    }
                }
                None => return Err(TakeError::Closed),
            }
        }
    }
}
