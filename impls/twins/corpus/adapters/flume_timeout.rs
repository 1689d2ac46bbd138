//! flume with `send_timeout` and `recv_timeout`. A deadline that never comes is a time-out of the greatest `Duration`.

use ::std::time::Duration;

use ::flume::{Receiver, RecvTimeoutError, SendTimeoutError, Sender};
use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutDeadline, PutError, PutUntilError,
    TakeDeadline, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::flume::Flume;
use crate::sync::clock;

/// flume by time-outs.
#[derive(Clone, Copy, Debug)]
pub struct ByTimeout;

impl Channels for ByTimeout {
    type Tx<T: Message> = Sender<T>;
    type Rx<T: Message> = Receiver<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        Flume::open(buffer)
    }

    fn another_tx<T: Message>(tx: &Sender<T>) -> Option<Sender<T>> {
        Some(tx.clone())
    }

    fn another_rx<T: Message>(rx: &Receiver<T>) -> Option<Receiver<T>> {
        Some(rx.clone())
    }

    fn offer<T: Message>(tx: &mut Sender<T>, value: T) -> Offered<T> {
        Flume::offer(tx, value)
    }

    fn poll<T: Message>(rx: &mut Receiver<T>) -> Polled<T> {
        Flume::poll(rx)
    }
}

impl Blocking for ByTimeout {
    fn put<T: Message>(tx: &mut Sender<T>, value: T) -> Result<(), PutError<T>> {
        Flume::put(tx, value)
    }

    fn take<T: Message>(rx: &mut Receiver<T>) -> Result<T, TakeError> {
        Flume::take(rx)
    }
}

impl PutDeadline for ByTimeout {
    fn put_until<T: Message>(
        tx: &mut Sender<T>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        let left = clock::left(deadline).unwrap_or(Duration::MAX);
        tx.send_timeout(value, left).map_err(|e| match e {
            SendTimeoutError::Timeout(value) => PutUntilError::TimedOut(value),
            SendTimeoutError::Disconnected(value) => {
                PutUntilError::Put(PutError::Closed(Some(value)))
            }
        })
    }
}

impl TakeDeadline for ByTimeout {
    fn take_until<T: Message>(
        rx: &mut Receiver<T>,
        deadline: Deadline,
    ) -> Result<T, TakeUntilError> {
        let left = clock::left(deadline).unwrap_or(Duration::MAX);
        rx.recv_timeout(left).map_err(|e| match e {
            RecvTimeoutError::Timeout => TakeUntilError::TimedOut,
            RecvTimeoutError::Disconnected => TakeUntilError::Take(TakeError::Closed),
        })
    }
}
