//! kanal with `send_option_timeout` as a put with a deadline. impls/src/peers/kanal.rs says why the adapter of measurements
//! has none.

use ::kanal::{Receiver, SendErrorTimeout, Sender};
use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutDeadline, PutError, PutUntilError,
    TakeError,
};
use flowmeter_harness::sync::Deadline;

use super::kanal::Kanal;
use crate::sync::clock;

/// kanal with deadlines on puts.
#[derive(Clone, Copy, Debug)]
pub struct KanalOption;

impl Channels for KanalOption {
    type Tx<T: Message> = Sender<T>;
    type Rx<T: Message> = Receiver<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        Kanal::open(buffer)
    }

    fn another_tx<T: Message>(tx: &Sender<T>) -> Option<Sender<T>> {
        Some(tx.clone())
    }

    fn another_rx<T: Message>(rx: &Receiver<T>) -> Option<Receiver<T>> {
        Some(rx.clone())
    }

    fn offer<T: Message>(tx: &mut Sender<T>, value: T) -> Offered<T> {
        Kanal::offer(tx, value)
    }

    fn poll<T: Message>(rx: &mut Receiver<T>) -> Polled<T> {
        Kanal::poll(rx)
    }
}

impl Blocking for KanalOption {
    fn put<T: Message>(tx: &mut Sender<T>, value: T) -> Result<(), PutError<T>> {
        Kanal::put(tx, value)
    }

    fn take<T: Message>(rx: &mut Receiver<T>) -> Result<T, TakeError> {
        Kanal::take(rx)
    }
}

impl PutDeadline for KanalOption {
    fn put_until<T: Message>(
        tx: &mut Sender<T>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        let Some(left) = clock::left(deadline) else {
            return Self::put(tx, value).map_err(PutUntilError::Put);
        };
        let mut slot = Some(value);
        match tx.send_option_timeout(&mut slot, left) {
            Ok(()) => Ok(()),
            Err(SendErrorTimeout::Timeout) => Err(PutUntilError::TimedOut(
                slot.expect("what timed out comes back"),
            )),
            Err(_) => Err(PutUntilError::Put(PutError::Closed(slot))),
        }
    }
}
