//! thingbuf's mpsc: a ring that lends out its slots by reference. Two modules, hence two families under one name.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | fixed | `mpsc::with_recycle`; "unbounded channels are evil" |
//! | many producers | module docs, "multi-producer, single-consumer" |
//! | blocking ([`Threads`]) | `mpsc::blocking` |
//! | take-deadline | `blocking::Receiver::recv_timeout` |
//! | async ([`Tasks`]) | `mpsc::Sender::send`, `mpsc::Receiver::recv` |
//! | disconnect, keeps-buffered | module docs, "Disconnection": messages sent before the last sender was dropped "will be returned before `Receiver::recv` returns `None`"; with the receiver dropped "all further attempts to send will result in an error" |
//!
//! Not claimed:
//! - put-deadline: as of 0.1.6 a `send_timeout` that times out leaves its node in the list of waiters. The node is on
//!   its stack, so the next thread that touches the list writes to memory that is no longer valid
//!   (`impls/tests/peers/thingbuf_faults.rs`).
//! - There is no rendezvous, nothing closes a channel while both halves live, halves cannot be compared, and there are
//!   no weak producers and no selection. Threads and tasks have separate channels.
//! - Neither waiter order nor the effect of dropping a future is documented.
//!
//! As of 0.1.6 a send future that is dropped after it was woken loses the wake-up. One that is dropped while it is
//! woken breaks an assertion of the crate. `c10-dropped-futures` fails.
//!
//! A slot always holds a value, which the crate's recycling policy makes. Here that value is an empty `Option`, so that
//! any type can be sent, and a taken value is moved out. A program that sends strings and reads them in place allocates
//! nothing. The crate is made for that use, and no other crate here has it.

use ::sync_wrapper::SyncWrapper;
use ::thingbuf::mpsc::errors::{Closed, RecvTimeoutError, TryRecvError, TrySendError};
use ::thingbuf::mpsc::{self, blocking};
use ::thingbuf::recycling::Recycle;
use flowmeter_harness::channel::{
    Async, Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeDeadline, TakeError,
    TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::answered::Answered;
use crate::sync::clock;

/// `thingbuf::mpsc::blocking`.
#[derive(Clone, Copy, Debug)]
pub struct Threads;

/// `thingbuf::mpsc`.
#[derive(Clone, Copy, Debug)]
pub struct Tasks;

/// An empty slot holds `None`, and an emptied one keeps nothing for the next value.
#[derive(Clone, Copy, Debug)]
pub struct Empty;

impl<T> Recycle<Option<T>> for Empty {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new_element(&self) -> Option<T> {
        None
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn recycle(&self, slot: &mut Option<T>) {
        *slot = None;
    }
}

/// A slot of a channel. The crate's halves are `Send` only if their values are `Sync`, because it lends slots out.
/// Nothing here is lent, so the wrapper makes any value `Sync`.
type Slot<T> = Option<SyncWrapper<T>>;

#[cfg_attr(not(debug_assertions), inline(always))]
fn full<T>(value: T) -> Slot<T> {
    Some(SyncWrapper::new(value))
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn value<T>(slot: Slot<T>) -> T {
    let value = slot.expect("a slot that is sent holds a value");
    value.into_inner()
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn offered<T>(sent: Result<(), TrySendError<Slot<T>>>) -> Offered<T> {
    match sent {
        Ok(()) => Offered::Done,
        Err(TrySendError::Full(slot)) => Offered::WouldWait(value(slot)),
        Err(TrySendError::Closed(slot)) => Offered::Closed(value(slot)),
        Err(_) => unreachable!("the crate knows no other answer"),
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn polled<T>(taken: Result<Slot<T>, TryRecvError>) -> Polled<T> {
    match taken {
        Ok(slot) => Polled::Done(value(slot)),
        Err(TryRecvError::Empty) => Polled::WouldWait,
        Err(_) => Polled::Closed,
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn put<T>(sent: Result<(), Closed<Slot<T>>>) -> Result<(), PutError<T>> {
    sent.map_err(|closed| PutError::Closed(Some(value(closed.into_inner()))))
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn taken<T>(slot: Option<Slot<T>>) -> Result<T, TakeError> {
    slot.map(value).ok_or(TakeError::Closed)
}

impl Channels for Threads {
    type Tx<T: Message> = blocking::Sender<Slot<T>, Empty>;
    type Rx<T: Message> = blocking::Receiver<Slot<T>, Empty>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        match buffer {
            Buffer::Fixed(capacity) => Some(blocking::with_recycle(capacity.get(), Empty)),
            _ => None,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_tx<T: Message>(tx: &Self::Tx<T>) -> Option<Self::Tx<T>> {
        Some(tx.clone())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        offered(tx.try_send(full(value)))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
        polled(rx.try_recv())
    }
}

impl Blocking for Threads {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        put(tx.send(full(value)))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError> {
        taken(rx.recv())
    }
}

impl TakeDeadline for Threads {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_until<T: Message>(
        rx: &mut Self::Rx<T>,
        deadline: Deadline,
    ) -> Result<T, TakeUntilError> {
        let Some(left) = clock::left(deadline) else {
            return Self::take(rx).map_err(TakeUntilError::Take);
        };
        match rx.recv_timeout(left) {
            Ok(slot) => Ok(value(slot)),
            Err(RecvTimeoutError::Timeout) => Err(TakeUntilError::TimedOut),
            Err(_) => Err(TakeUntilError::Take(TakeError::Closed)),
        }
    }
}

impl Channels for Tasks {
    type Tx<T: Message> = mpsc::Sender<Slot<T>, Empty>;
    type Rx<T: Message> = mpsc::Receiver<Slot<T>, Empty>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        match buffer {
            Buffer::Fixed(capacity) => Some(mpsc::with_recycle(capacity.get(), Empty)),
            _ => None,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_tx<T: Message>(tx: &Self::Tx<T>) -> Option<Self::Tx<T>> {
        Some(tx.clone())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut Self::Tx<T>, value: T) -> Offered<T> {
        offered(tx.try_send(full(value)))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
        polled(rx.try_recv())
    }
}

impl Async for Tasks {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put_async<T: Message>(
        tx: &mut Self::Tx<T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        Answered::new(tx.send(full(value)), put)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_async<T: Message>(
        rx: &mut Self::Rx<T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send {
        Answered::new(rx.recv(), taken)
    }
}
