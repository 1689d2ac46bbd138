//! Two crossfire channels that are received with one `Multiplex`. The producer puts into one of them, and keeps the other open.
//! A further producer would put into the other, and the order of one thread's puts would be lost.

use ::crossfire::select::{Multiplex, Mux};
use ::crossfire::{BlockingTxTrait, MTx, SendError, TryRecvError, mpsc};
use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

/// Two channels as one.
#[derive(Clone, Copy, Debug)]
pub struct Multiplexed;

type Flavour<T> = mpsc::List<T>;

impl Channels for Multiplexed {
    /// The channel into which it puts, and the other one.
    type Tx<T: Message> = [MTx<Mux<Flavour<T>>>; 2];
    type Rx<T: Message> = Multiplex<Flavour<T>>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
        (buffer == Buffer::Unbounded).then(|| {
            let mut all = Multiplex::new();
            let inputs = [all.new_tx(), all.new_tx()];
            (inputs, all)
        })
    }

    fn offer<T: Message>([own, _]: &mut Self::Tx<T>, value: T) -> Offered<T> {
        match own.send(value) {
            Ok(()) => Offered::Done,
            Err(SendError(value)) => Offered::Closed(value),
        }
    }

    fn poll<T: Message>(rx: &mut Self::Rx<T>) -> Polled<T> {
        match rx.try_recv() {
            Ok(value) => Polled::Done(value),
            Err(TryRecvError::Empty) => Polled::WouldWait,
            Err(TryRecvError::Disconnected) => Polled::Closed,
        }
    }
}

impl Blocking for Multiplexed {
    fn put<T: Message>([own, _]: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
        own.send(value)
            .map_err(|SendError(value)| PutError::Closed(Some(value)))
    }

    fn take<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError> {
        rx.recv().map_err(|_| TakeError::Closed)
    }
}
