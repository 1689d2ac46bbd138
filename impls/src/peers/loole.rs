//! loole: one mutex around a queue and the lists of waiters. No unsafe code.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | rendezvous, fixed, unbounded | README: "unbounded, bounded and rendezvous channels" |
//! | many producers and consumers | crate docs: "both sides are cloneable" |
//! | blocking, async | README: "send and receive operations can be blocking (sync) or non-blocking (async)", on one channel |
//! | put-deadline, take-deadline | `Sender::send_deadline`, `Receiver::recv_deadline` |
//! | identity | `Sender::same_channel`, `Receiver::same_channel` |
//! | close, keeps-buffered | `Sender::close`: "the remaining messages can still be received" |
//! | disconnect | crate docs: "when all `Sender`s or all `Receiver`s are dropped, the channel becomes closed" |
//!
//! Not claimed: cancel safety. A dropped send is documented as cancelled ("the message is removed from the channel and
//! destroyed"), but of a dropped receive only the change log speaks. Waiter order is not documented. There are no weak
//! producers and no selection.
//!
//! As of 0.6.0 a send on a rendezvous is answered before the receiver that it met has the value
//! (`impls/tests/peers/loole_faults.rs`), and `c2-outcomes` and `c2-histories-async` fail.

use ::loole::{
    Receiver, RecvTimeoutError, SendError, SendTimeoutError, Sender, TryRecvError, TrySendError,
};
use flowmeter_harness::channel::{
    Async, Blocking, Buffer, Channels, Message, Offered, Polled, PutDeadline, PutError,
    PutUntilError, TakeDeadline, TakeError, TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::answered::Answered;
use crate::sync::clock;

/// loole.
#[derive(Clone, Copy, Debug)]
pub struct Loole;

impl Channels for Loole {
    type Tx<T: Message> = Sender<T>;
    type Rx<T: Message> = Receiver<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        match buffer {
            Buffer::Rendezvous => Some(::loole::bounded(0)),
            Buffer::Fixed(capacity) => Some(::loole::bounded(capacity.get())),
            Buffer::Unbounded => Some(::loole::unbounded()),
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

    #[cfg(not(feature = "older-loole"))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn close<T: Message>(tx: &Sender<T>) -> bool {
        // It returns whether the channel was open until now, which is not needed here.
        tx.close();
        true
    }

    #[cfg(not(feature = "older-loole"))]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn close_rx<T: Message>(rx: &mut Receiver<T>) -> bool {
        rx.close();
        true
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn same_tx<T: Message>(one: &Sender<T>, other: &Sender<T>) -> Option<bool> {
        Some(one.same_channel(other))
    }

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

impl Blocking for Loole {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<T: Message>(tx: &mut Sender<T>, value: T) -> Result<(), PutError<T>> {
        tx.send(value).map_err(closed)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take<T: Message>(rx: &mut Receiver<T>) -> Result<T, TakeError> {
        rx.recv().map_err(|_| TakeError::Closed)
    }
}

impl Async for Loole {
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

impl PutDeadline for Loole {
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

impl TakeDeadline for Loole {
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
