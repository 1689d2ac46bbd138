//! kanal: one mutex, a queue and one list of waiters. Values are written directly to a waiter's stack.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | rendezvous, fixed, unbounded | `bounded` (capacity 0 in its examples), `unbounded` |
//! | many producers and consumers | README, "multi-producer, multi-consumer" |
//! | blocking, async | README: one channel for both; `as_async` |
//! | take-deadline | `Receiver::recv_timeout` |
//! | close | `Sender::close`: "closes the channel completely on both sides and terminates waiting signals" |
//! | disconnect | `SendError::ReceiveClosed`, `ReceiveError::SendClosed`: all instances of the other side are dropped |
//!
//! Not claimed:
//! - keeps-buffered: `close` clears the queue.
//! - cancel-safe: `AsyncReceiver::recv` warns that a future once polled must be polled to its end.
//! - put-deadline: a put that times out has to give its value back, and `send_timeout` keeps it. `send_option_timeout`
//!   gives it back. But as of 0.1.1 it drops the value again if a taker received it while the put waited, because its
//!   local is not forgotten. That is a double free for any value that owns something.
//! - alts: there is no select. Identity: halves cannot be compared. Waiter order is not documented, and `try_send`
//!   documents its lock.
//!
//! As of 0.1.1 the send future does not renew its waker (`impls/tests/peers/kanal_faults.rs`), and `c11-forms` hangs.
//!
//! `send` swallows the value of a put that is answered "closed", so the answer is `Closed(None)`.

use ::kanal::{ReceiveErrorTimeout, Receiver, Sender};
use flowmeter_harness::channel::{
    Async, Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeDeadline, TakeError,
    TakeUntilError,
};
use flowmeter_harness::sync::Deadline;

use super::answered::Answered;
use crate::sync::clock;

/// kanal. The halves are the synchronous ones; `as_async` only changes their type.
#[derive(Clone, Copy, Debug)]
pub struct Kanal;

impl Channels for Kanal {
    type Tx<T: Message> = Sender<T>;
    type Rx<T: Message> = Receiver<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        match buffer {
            Buffer::Rendezvous => Some(::kanal::bounded(0)),
            Buffer::Fixed(capacity) => Some(::kanal::bounded(capacity.get())),
            Buffer::Unbounded => Some(::kanal::unbounded()),
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

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn close<T: Message>(tx: &Sender<T>) -> bool {
        // An error means that the channel was closed before. Closing twice is harmless.
        let _ = tx.close();
        true
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn close_rx<T: Message>(rx: &mut Receiver<T>) -> bool {
        // As in `close`.
        let _ = rx.close();
        true
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut Sender<T>, value: T) -> Offered<T> {
        let mut value = Some(value);
        let answer = tx.try_send_option(&mut value);
        match (answer, value) {
            (Ok(_), None) => Offered::Done,
            (Ok(_), Some(value)) => Offered::WouldWait(value),
            (Err(_), Some(value)) => Offered::Closed(value),
            (Err(_), None) => unreachable!("try_send_option empties the option when it sends only"),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll<T: Message>(rx: &mut Receiver<T>) -> Polled<T> {
        match rx.try_recv() {
            Ok(Some(value)) => Polled::Done(value),
            Ok(None) => Polled::WouldWait,
            Err(_) => Polled::Closed,
        }
    }
}

impl Blocking for Kanal {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<T: Message>(tx: &mut Sender<T>, value: T) -> Result<(), PutError<T>> {
        tx.send(value).map_err(|_| PutError::Closed(None))
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take<T: Message>(rx: &mut Receiver<T>) -> Result<T, TakeError> {
        rx.recv().map_err(|_| TakeError::Closed)
    }
}

impl Async for Kanal {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put_async<T: Message>(
        tx: &mut Sender<T>,
        value: T,
    ) -> impl Future<Output = Result<(), PutError<T>>> + Send {
        let sent = |sent: Result<_, _>| sent.map_err(|_| PutError::Closed(None));
        Answered::new(tx.as_async().send(value), sent)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_async<T: Message>(
        rx: &mut Receiver<T>,
    ) -> impl Future<Output = Result<T, TakeError>> + Send {
        let taken = |taken: Result<_, _>| taken.map_err(|_| TakeError::Closed);
        Answered::new(rx.as_async().recv(), taken)
    }
}

impl TakeDeadline for Kanal {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take_until<T: Message>(
        rx: &mut Receiver<T>,
        deadline: Deadline,
    ) -> Result<T, TakeUntilError> {
        match clock::left(deadline) {
            None => Self::take(rx).map_err(TakeUntilError::Take),
            // A `recv_timeout` of zero would answer "timeout" on a closed channel too.
            Some(left) if left.is_zero() => match Self::poll(rx) {
                Polled::Done(value) => Ok(value),
                Polled::WouldWait => Err(TakeUntilError::TimedOut),
                Polled::Closed => Err(TakeUntilError::Take(TakeError::Closed)),
            },
            Some(left) => rx.recv_timeout(left).map_err(|e| match e {
                ReceiveErrorTimeout::Timeout => TakeUntilError::TimedOut,
                ReceiveErrorTimeout::Closed | ReceiveErrorTimeout::SendClosed => {
                    TakeUntilError::Take(TakeError::Closed)
                }
            }),
        }
    }
}
