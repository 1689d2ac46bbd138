//! std's mpsc: two types of producers, hence two families under one name.
//!
//! | claimed | where std documents it |
//! | --- | --- |
//! | rendezvous, fixed ([`Sync`]) | `sync_channel`: "a buffer size of 0 is valid, … each send() will not return until a recv is paired with it" |
//! | unbounded ([`Unbounded`]) | `channel`: "`send` will not block the calling thread (this channel has an 'infinite buffer')" |
//! | many producers | module docs, "multi-producer, single-consumer" |
//! | blocking, take-deadline | `send`, `recv`, `Receiver::recv_timeout` |
//! | disconnect, keeps-buffered | module docs, "Disconnection"; `recv`: "since channels are buffered, messages sent before the disconnect will still be properly received" |
//!
//! Not claimed: `SyncSender::send_timeout` and `Receiver::recv_deadline` are not stable. So puts have no deadline, and
//! the deadline of a take becomes a duration. A receiver is neither `Clone` nor `Sync`, so there is one consumer.
//! Halves cannot be compared, and the order of waiting threads is not documented.

use ::std::sync::mpsc::{
    self, Receiver, RecvTimeoutError, SendError, Sender, SyncSender, TryRecvError, TrySendError,
};

use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeDeadline, TakeError,
    TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use crate::sync::clock;

/// The version of std, which comes with the compiler.
pub const VERSION: &str = env!("FLOWMETER_STD_VERSION");

/// `std::sync::mpsc::sync_channel`.
#[derive(Clone, Copy, Debug)]
pub struct Sync;

/// `std::sync::mpsc::channel`.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

#[cfg_attr(not(debug_assertions), inline(always))]
fn closed<T>(SendError(value): SendError<T>) -> PutError<T> {
    PutError::Closed(Some(value))
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn poll<T>(rx: &Receiver<T>) -> Polled<T> {
    match rx.try_recv() {
        Ok(value) => Polled::Done(value),
        Err(TryRecvError::Empty) => Polled::WouldWait,
        Err(TryRecvError::Disconnected) => Polled::Closed,
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn take<T>(rx: &Receiver<T>) -> Result<T, TakeError> {
    rx.recv().map_err(|_| TakeError::Closed)
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn take_until<T>(rx: &Receiver<T>, deadline: Deadline) -> Result<T, TakeUntilError> {
    let Some(left) = clock::left(deadline) else {
        return take(rx).map_err(TakeUntilError::Take);
    };
    rx.recv_timeout(left).map_err(|e| match e {
        RecvTimeoutError::Timeout => TakeUntilError::TimedOut,
        RecvTimeoutError::Disconnected => TakeUntilError::Take(TakeError::Closed),
    })
}

impl Channels for Sync {
    type Tx<T: Message> = SyncSender<T>;
    type Rx<T: Message> = Receiver<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(SyncSender<T>, Receiver<T>)> {
        match buffer {
            Buffer::Rendezvous => Some(mpsc::sync_channel(0)),
            Buffer::Fixed(capacity) => Some(mpsc::sync_channel(capacity.get())),
            Buffer::Unbounded | Buffer::Dropping(_) | Buffer::Sliding(_) => None,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_tx<T: Message>(tx: &SyncSender<T>) -> Option<SyncSender<T>> {
        Some(tx.clone())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut SyncSender<T>, value: T) -> Offered<T> {
        match tx.try_send(value) {
            Ok(()) => Offered::Done,
            Err(TrySendError::Full(value)) => Offered::WouldWait(value),
            Err(TrySendError::Disconnected(value)) => Offered::Closed(value),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll<T: Message>(rx: &mut Receiver<T>) -> Polled<T> {
        poll(rx)
    }
}

impl Blocking for Sync {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<T: Message>(tx: &mut SyncSender<T>, value: T) -> Result<(), PutError<T>> {
        tx.send(value).map_err(closed)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take<T: Message>(rx: &mut Receiver<T>) -> Result<T, TakeError> {
        take(rx)
    }
}

impl TakeDeadline for Sync {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_until<T: Message>(
        rx: &mut Receiver<T>,
        deadline: Deadline,
    ) -> Result<T, TakeUntilError> {
        take_until(rx, deadline)
    }
}

impl Channels for Unbounded {
    type Tx<T: Message> = Sender<T>;
    type Rx<T: Message> = Receiver<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        (buffer == Buffer::Unbounded).then(mpsc::channel)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_tx<T: Message>(tx: &Sender<T>) -> Option<Sender<T>> {
        Some(tx.clone())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut Sender<T>, value: T) -> Offered<T> {
        // It never waits, so it serves as the offer too.
        match tx.send(value) {
            Ok(()) => Offered::Done,
            Err(SendError(value)) => Offered::Closed(value),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll<T: Message>(rx: &mut Receiver<T>) -> Polled<T> {
        poll(rx)
    }
}

impl Blocking for Unbounded {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<T: Message>(tx: &mut Sender<T>, value: T) -> Result<(), PutError<T>> {
        tx.send(value).map_err(closed)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take<T: Message>(rx: &mut Receiver<T>) -> Result<T, TakeError> {
        take(rx)
    }
}

impl TakeDeadline for Unbounded {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_until<T: Message>(
        rx: &mut Receiver<T>,
        deadline: Deadline,
    ) -> Result<T, TakeUntilError> {
        take_until(rx, deadline)
    }
}
