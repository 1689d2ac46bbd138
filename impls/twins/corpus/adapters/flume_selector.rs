//! Two flume channels whose receivers are waited for with a `Selector`. Each producer puts into one of them.

use ::flume::{Receiver, Selector, Sender, TryRecvError};
use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

/// Two channels as one.
#[derive(Clone, Copy, Debug)]
pub struct Selected;

impl Channels for Selected {
    /// The channel into which it puts, and the other one.
    type Tx<T: Message> = [Sender<T>; 2];
    type Rx<T: Message> = [Receiver<T>; 2];

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        (buffer == Buffer::Unbounded).then(|| {
            let [(a, from_a), (b, from_b)] = [::flume::unbounded(), ::flume::unbounded()];
            ([a, b], [from_a, from_b])
        })
    }

    fn another_tx<T: Message>([own, other]: &Self::Tx<T>) -> Option<Self::Tx<T>> {
        Some([other.clone(), own.clone()])
    }

    fn offer<T: Message>([own, _]: &mut Self::Tx<T>, value: T) -> Offered<T> {
        match own.send(value) {
            Ok(()) => Offered::Done,
            Err(refused) => Offered::Closed(refused.0),
        }
    }

    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
        let mut open = false;
        for one in rx {
            match one.try_recv() {
                Ok(value) => return Polled::Done(value),
                Err(TryRecvError::Empty) => open = true,
                Err(TryRecvError::Disconnected) => {}
            }
        }
        if open {
            Polled::WouldWait
        } else {
            Polled::Closed
        }
    }
}

impl Blocking for Selected {
    fn put<T: Message>([own, _]: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        own.send(value)
            .map_err(|refused| PutError::Closed(Some(refused.0)))
    }

    fn take<T: Message>([a, b]: &mut Self::Rx<T>) -> Result<T, TakeError> {
        let (taken, other) = Selector::new()
            .recv(a, |taken| (taken, &*b))
            .recv(b, |taken| (taken, &*a))
            .wait();
        taken
            .or_else(|_| other.recv())
            .map_err(|_| TakeError::Closed)
    }
}
