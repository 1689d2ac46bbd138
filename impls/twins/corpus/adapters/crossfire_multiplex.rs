//! Two crossfire channels that are received with one `Multiplex`. The producer puts into one of them, and keeps the other open.
//! A further producer would put into the other, and the order of one thread's puts would be lost.

use ::crossfire::select::{Multiplex, Mux};
use ::crossfire::{BlockingTxTrait, MTx, SendError, TryRecvError, TrySendError, mpsc};
use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

/// Unbounded channels.
#[derive(Clone, Copy, Debug)]
pub struct Lists;

/// Bounded channels.
#[derive(Clone, Copy, Debug)]
pub struct Arrays;

macro_rules! multiplexed {
    ($family:ident, $queue:ident, $buffer:pat => |$all:ident| $input:expr) => {
        impl Channels for $family {
            /// The channel into which it puts, and the other one.
            type Tx<T: Message> = [MTx<Mux<mpsc::$queue<T>>>; 2];
            type Rx<T: Message> = Multiplex<mpsc::$queue<T>>;

            fn open<T: Message>(buffer: Buffer) -> Option<(Self::Tx<T>, Self::Rx<T>)> {
                let $buffer = buffer else {
                    return None;
                };
                let mut $all = Multiplex::new();
                let inputs = [$input, $input];
                Some((inputs, $all))
            }

            fn offer<T: Message>([own, _]: &mut Self::Tx<T>, value: T) -> Offered<T> {
                match own.try_send(value) {
                    Ok(()) => Offered::Done,
                    Err(TrySendError::Full(value)) => Offered::WouldWait(value),
                    Err(TrySendError::Disconnected(value)) => Offered::Closed(value),
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

        impl Blocking for $family {
            fn put<T: Message>([own, _]: &mut Self::Tx<T>, value: T) -> Result<(), PutError<T>> {
                own.send(value)
                    .map_err(|SendError(value)| PutError::Closed(Some(value)))
            }

            fn take<T: Message>(rx: &mut Self::Rx<T>) -> Result<T, TakeError> {
                rx.recv().map_err(|_| TakeError::Closed)
            }
        }
    };
}

multiplexed!(Lists, List, Buffer::Unbounded => |all| all.new_tx());
multiplexed!(Arrays, Array, Buffer::Fixed(capacity) => |all| all.bounded_tx(capacity.get()));
