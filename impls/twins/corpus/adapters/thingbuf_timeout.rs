//! thingbuf with `send_timeout`. impls/src/peers/thingbuf.rs says why the adapter of measurements has none.

use ::sync_wrapper::SyncWrapper;
use ::thingbuf::mpsc::errors::SendTimeoutError;
use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutDeadline, PutError, PutUntilError,
    TakeDeadline, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::thingbuf::Threads as Without;
use crate::sync::clock;

/// `thingbuf::mpsc::blocking` with deadlines on puts.
#[derive(Clone, Copy, Debug)]
pub struct Threads;

impl Channels for Threads {
    type Tx<T: Message> = <Without as Channels>::Tx<T>;
    type Rx<T: Message> = <Without as Channels>::Rx<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        Without::open(buffer)
    }

    fn another_tx<T: Message>(tx: &Self::Tx<T>) -> Option<Self::Tx<T>> {
        Some(tx.clone())
    }

    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        Without::offer(tx, value)
    }

    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
        Without::poll(rx)
    }
}

impl Blocking for Threads {
    fn put<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        Without::put(tx, value)
    }

    fn take<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError> {
        Without::take(rx)
    }
}

impl TakeDeadline for Threads {
    fn take_until<T: Message>(
        rx: &mut Self::Rx<T>,
        deadline: Deadline,
    ) -> Result<T, TakeUntilError> {
        Without::take_until(rx, deadline)
    }
}

impl PutDeadline for Threads {
    fn put_until<T: Message>(
        tx: &mut Self::Tx<T>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        let Some(left) = clock::left(deadline) else {
            return Self::put(tx, value).map_err(PutUntilError::Put);
        };
        let back = |slot: Option<SyncWrapper<T>>| {
            slot.expect("a slot that is sent holds a value")
                .into_inner()
        };
        tx.send_timeout(Some(SyncWrapper::new(value)), left)
            .map_err(|e| match e {
                SendTimeoutError::Timeout(slot) => PutUntilError::TimedOut(back(slot)),
                SendTimeoutError::Closed(slot) => {
                    PutUntilError::Put(PutError::Closed(Some(back(slot))))
                }
                _ => unreachable!("the crate knows no other answer"),
            })
    }
}
