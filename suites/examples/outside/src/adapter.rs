//! The adapter for Flowmeter: which of its operations are which of ours, and our claims.

use flowmeter_harness::caps::Claim::{Disconnect, KeepsBuffered};
use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};
use flowmeter_harness::registry::{Registry, Visitor, own};
use flowmeter_harness::sync::Deadline;
use flowmeter_harness::timer::{Fired, Timers};

use crate::queue::{Receiver, Refused, Sender, bounded};
use crate::ticker::Ticker;

/// The family of [`bounded`] queues.
#[derive(Clone, Copy, Debug)]
pub struct Bounded;

impl Channels for Bounded {
    type Tx<T: Message> = Sender<T>;
    type Rx<T: Message> = Receiver<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Sender<T>, Receiver<T>)> {
        match buffer {
            Buffer::Fixed(capacity) => Some(bounded(capacity.get())),
            _ => None,
        }
    }
    fn another_tx<T: Message>(tx: &Sender<T>) -> Option<Sender<T>> {
        Some(tx.clone())
    }
    fn close<T: Message>(tx: &Sender<T>) -> bool {
        tx.close();
        true
    }
    #[inline]
    fn offer<T: Message>(tx: &mut Sender<T>, value: T) -> Offered<T> {
        match tx.try_send(value) {
            Ok(()) => Offered::Done,
            Err(Refused::Full(value)) => Offered::WouldWait(value),
            Err(Refused::Closed(value)) => Offered::Closed(value),
        }
    }
    #[inline]
    fn poll<T: Message>(rx: &mut Receiver<T>) -> Polled<T> {
        match rx.try_recv() {
            Ok(value) => Polled::Done(value),
            Err(true) => Polled::WouldWait,
            Err(false) => Polled::Closed,
        }
    }
}

impl Blocking for Bounded {
    #[inline]
    fn put<T: Message>(tx: &mut Sender<T>, value: T) -> Result<(), PutError<T>> {
        tx.send(value)
            .map_err(|value| PutError::Closed(Some(value)))
    }
    #[inline]
    fn take<T: Message>(rx: &mut Receiver<T>) -> Result<T, TakeError> {
        rx.recv().ok_or(TakeError::Closed)
    }
}

impl Timers for Ticker {
    /// No call can be cancelled.
    type Handle = ();

    fn start() -> Self {
        Ticker::new()
    }
    fn schedule(&self, deadline: Deadline, then: impl FnOnce(Fired) + Send + 'static) {
        self.at(deadline, |due| {
            then(Fired {
                due,
                claimed_nanos: None,
            });
        });
    }
}

/// My implementations.
#[derive(Clone, Copy, Debug)]
pub struct Mine;

impl Registry for Mine {
    fn channels<V: Visitor>(self, visitor: &mut V) {
        let bounded = own::<Bounded, _>(visitor, "bounded").channel();
        bounded
            .blocking()
            .claims(&[KeepsBuffered, Disconnect])
            .enter();
    }
    fn timers<V: Visitor>(self, visitor: &mut V) {
        own::<Ticker, _>(visitor, "ticker").timer().enter();
    }
}
