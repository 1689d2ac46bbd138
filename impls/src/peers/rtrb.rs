//! rtrb: a ring for one producer and one consumer. None of its operations waits.
//!
//! | claimed | where the crate documents it |
//! | --- | --- |
//! | fixed | `RingBuffer::new`: "Creates a `RingBuffer` with the given `capacity`" |
//! | blocking | crate docs: "there is no way for the reading thread to wait for new data, other than trying repeatedly until reading succeeds", and "Similarly, if the queue is full" |
//! | keeps-buffered | `Consumer::is_abandoned`: "The items that are left in the ring buffer can still be consumed" |
//!
//! So a put or take here tries repeatedly, with crossbeam's `Backoff` between its tries: it spins, and soon yields. A
//! thread that waits never sleeps, and takes a core.
//!
//! Not claimed: disconnect. After the consumer was dropped, "items can still be written", and a put is refused only once
//! the ring is full. Halves can be neither cloned nor compared, and only dropping them ends a channel. There is no form
//! for tasks, and none with a deadline.

use ::rtrb::{Consumer, Producer, PushError, RingBuffer};
use crossbeam_utils::Backoff;
use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

/// `rtrb::RingBuffer`.
#[derive(Clone, Copy, Debug)]
pub struct Rtrb;

impl Channels for Rtrb {
    type Tx<T: Message> = Producer<T>;
    type Rx<T: Message> = Consumer<T>;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn open<T: Message>(buffer: Buffer) -> Option<(Producer<T>, Consumer<T>)> {
        match buffer {
            Buffer::Fixed(capacity) => Some(RingBuffer::new(capacity.get())),
            Buffer::Rendezvous | Buffer::Unbounded | Buffer::Dropping(_) | Buffer::Sliding(_) => {
                None
            }
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn offer<T: Message>(tx: &mut Producer<T>, value: T) -> Offered<T> {
        match tx.push(value) {
            Ok(()) => Offered::Done,
            Err(PushError::Full(value)) if tx.is_abandoned() => Offered::Closed(value),
            Err(PushError::Full(value)) => Offered::WouldWait(value),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn poll<T: Message>(rx: &mut Consumer<T>) -> Polled<T> {
        if let Ok(value) = rx.pop() {
            return Polled::Done(value);
        }
        if !rx.is_abandoned() {
            return Polled::WouldWait;
        }
        // The producer may have pushed before it was dropped.
        rx.pop().map_or(Polled::Closed, Polled::Done)
    }
}

impl Blocking for Rtrb {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<T: Message>(tx: &mut Producer<T>, mut value: T) -> Result<(), PutError<T>> {
        let backoff = Backoff::new();
        loop {
            match Rtrb::offer(tx, value) {
                Offered::Done => return Ok(()),
                Offered::Closed(value) => return Err(PutError::Closed(Some(value))),
                Offered::WouldWait(refused) => value = refused,
            }
            backoff.snooze();
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn take<T: Message>(rx: &mut Consumer<T>) -> Result<T, TakeError> {
        let backoff = Backoff::new();
        loop {
            match Rtrb::poll(rx) {
                Polled::Done(value) => return Ok(value),
                Polled::Closed => return Err(TakeError::Closed),
                Polled::WouldWait => backoff.snooze(),
            }
        }
    }
}
