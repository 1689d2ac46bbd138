//! flume: one mutex, a queue, and a list of hooks for each side.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | rendezvous, fixed, unbounded | `bounded` ("if the capacity is 0, … rendezvous"), `unbounded` |
//! | many producers and consumers | crate docs, "multi-producer, multi-consumer" |
//! | blocking, with deadlines; async | `send_deadline`, `recv_deadline`; `send_async`, `recv_async` |
//! | identity | `Sender::same_channel`, `Receiver::same_channel` |
//! | weak producers | `WeakSender`: "as soon as all normal `Sender`s are dropped, the channel is closed" |
//! | disconnect | `send`, `recv`: "an error if all receivers" (senders) "have been dropped" |
//! | keeps-buffered | `RecvError::Disconnected`: "all senders were dropped and no messages are waiting in the channel" |
//!
//! Not claimed: waiter order and cancel safety are not documented, and every operation takes a lock. Values that are
//! buffered when the last consumer is dropped are "cleaned up when all senders and the receiver have been dropped". No
//! alts: `Selector::send` takes its value when the selection is built, and drops the values of operations that lose. A
//! losing clause has to give its value back (A1).

use ::flume::{
    Receiver, RecvTimeoutError, SendError, SendTimeoutError, Sender, TryRecvError, TrySendError,
};
use flowmeter_harness::channel::{
    Async, Blocking, Buffer, Channels, Message, Offered, Polled, PutDeadline, PutError,
    PutUntilError, TakeDeadline, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::answered::Answered;
use crate::sync::clock;

/// flume.
#[derive(Clone, Copy, Debug)]
pub struct Flume;

impl Channels for Flume {
    type Tx<T: Message> = Sender<T>;
    type Rx<T: Message> = Receiver<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        match buffer {
            Buffer::Rendezvous => Some(::flume::bounded(0)),
            Buffer::Fixed(capacity) => Some(::flume::bounded(capacity.get())),
            Buffer::Unbounded => Some(::flume::unbounded()),
            Buffer::Dropping(_) | Buffer::Sliding(_) => None,
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_tx<T: Message>(tx: &Sender<T>) -> Option<Sender<T>> {
        Some(tx.clone())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn another_rx<T: Message>(rx: &Receiver<T>) -> Option<Receiver<T>> {
        Some(rx.clone())
    }

    #[cfg(not(feature = "older-flume"))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn same_tx<T: Message>(one: &Sender<T>, other: &Sender<T>) -> Option<bool> {
        Some(one.same_channel(other))
    }

    #[cfg(not(feature = "older-flume"))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn same_rx<T: Message>(one: &Receiver<T>, other: &Receiver<T>) -> Option<bool> {
        Some(one.same_channel(other))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut Sender<T>, value: T) -> Offered<T> {
        match tx.try_send(value) {
            Ok(()) => Offered::Done,
            Err(TrySendError::Full(value)) => Offered::WouldWait(value),
            Err(TrySendError::Disconnected(value)) => Offered::Closed(value),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll<T: Message>(rx: &mut Receiver<T>) -> Polled<T> {
        match rx.try_recv() {
            Ok(value) => Polled::Done(value),
            Err(TryRecvError::Empty) => Polled::WouldWait,
            Err(TryRecvError::Disconnected) => Polled::Closed,
        }
    }
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn closed<T>(SendError(value): SendError<T>) -> PutError<T> {
    PutError::Closed(Some(value))
}

impl Blocking for Flume {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<T: Message>(tx: &mut Sender<T>, value: T) -> Result<(), PutError<T>> {
        tx.send(value).map_err(closed)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take<T: Message>(rx: &mut Receiver<T>) -> Result<T, TakeError> {
        rx.recv().map_err(|_| TakeError::Closed)
    }
}

impl Async for Flume {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put_async<T: Message>(
        tx: &mut Sender<T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        Answered::new(tx.send_async(value), |sent: Result<_, _>| {
            sent.map_err(closed)
        })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_async<T: Message>(
        rx: &mut Receiver<T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send {
        Answered::new(rx.recv_async(), |taken: Result<_, _>| {
            taken.map_err(|_| TakeError::Closed)
        })
    }
}

impl PutDeadline for Flume {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put_until<T: Message>(
        tx: &mut Sender<T>,
        value: T,
        deadline: Deadline,
    ) -> Result<(), PutUntilError<T>> {
        let Some(deadline) = clock::instant(deadline) else {
            return Self::put(tx, value).map_err(PutUntilError::Put);
        };
        tx.send_deadline(value, deadline).map_err(|e| match e {
            SendTimeoutError::Timeout(value) => PutUntilError::TimedOut(value),
            SendTimeoutError::Disconnected(value) => {
                PutUntilError::Put(PutError::Closed(Some(value)))
            }
        })
    }
}

impl TakeDeadline for Flume {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_until<T: Message>(
        rx: &mut Receiver<T>,
        deadline: Deadline,
    ) -> Result<T, TakeUntilError> {
        let Some(deadline) = clock::instant(deadline) else {
            return Self::take(rx).map_err(TakeUntilError::Take);
        };
        rx.recv_deadline(deadline).map_err(|e| match e {
            RecvTimeoutError::Timeout => TakeUntilError::TimedOut,
            RecvTimeoutError::Disconnected => TakeUntilError::Take(TakeError::Closed),
        })
    }
}

#[cfg(not(feature = "older-flume"))]
impl flowmeter_harness::channel::WeakProducers for Flume {
    type WeakTx<T: Message> = ::flume::WeakSender<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn downgrade<T: Message>(tx: &Sender<T>) -> ::flume::WeakSender<T> {
        tx.downgrade()
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn upgrade<T: Message>(weak: &::flume::WeakSender<T>) -> Option<Sender<T>> {
        weak.upgrade()
    }
}
