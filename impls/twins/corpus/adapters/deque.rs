//! crossbeam-deque's worker queue as a channel: the worker puts, and stealers take. The queue has been used before: its buffer
//! is full but for two places, and the first places of it were stolen. So puts make it grow beside thefts.

use ::std::sync::Arc;
use ::std::sync::atomic::{AtomicBool, Ordering};
use ::std::thread;

use ::crossbeam_deque::{Steal, Stealer, Worker};
use flowmeter_harness::channel::{
    Blocking, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

/// `crossbeam_deque::Worker::new_fifo`.
#[derive(Clone, Copy, Debug)]
pub struct Deque;

/// The places of a new buffer.
const PLACES: usize = 64;

/// The worker, and whether it is gone.
pub struct Tx<T> {
    worker: Worker<Option<T>>,
    gone: Arc<AtomicBool>,
}

impl<T> Drop for Tx<T> {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::SeqCst);
    }
}

/// A stealer.
pub struct Rx<T> {
    stealer: Stealer<Option<T>>,
    gone: Arc<AtomicBool>,
}

impl Channels for Deque {
    type Tx<T: Message> = Tx<T>;
    type Rx<T: Message> = Rx<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Tx<T>, Rx<T>)> {
        (buffer == Buffer::Unbounded).then(|| {
            let worker = Worker::new_fifo();
            let stealer = worker.stealer();
            for _ in 0..PLACES - 2 {
                worker.push(None);
            }
            for _ in 0..PLACES - 3 {
                let _ = stealer.steal();
            }
            for _ in 0..PLACES - 3 {
                worker.push(None);
            }
            let gone = Arc::new(AtomicBool::new(false));
            let rx = Rx {
                stealer,
                gone: Arc::clone(&gone),
            };
            (Tx { worker, gone }, rx)
        })
    }

    fn another_rx<T: Message>(rx: &Rx<T>) -> Option<Rx<T>> {
        Some(Rx {
            stealer: rx.stealer.clone(),
            gone: Arc::clone(&rx.gone),
        })
    }

    fn offer<T: Message>(tx: &mut Tx<T>, value: T) -> Offered<T> {
        tx.worker.push(Some(value));
        Offered::Done
    }

    fn poll<T: Message>(rx: &mut Rx<T>) -> Polled<T> {
        loop {
            let gone = rx.gone.load(Ordering::SeqCst);
            match rx.stealer.steal() {
                Steal::Success(Some(value)) => return Polled::Done(value),
                Steal::Success(None) | Steal::Retry => {}
                Steal::Empty if gone => return Polled::Closed,
                Steal::Empty => return Polled::WouldWait,
            }
        }
    }
}

impl Blocking for Deque {
    fn put<T: Message>(tx: &mut Tx<T>, value: T) -> Result<(), PutError<T>> {
        tx.worker.push(Some(value));
        Ok(())
    }

    fn take<T: Message>(rx: &mut Rx<T>) -> Result<T, TakeError> {
        loop {
            match Self::poll(rx) {
                Polled::Done(value) => return Ok(value),
                Polled::Closed => return Err(TakeError::Closed),
                Polled::WouldWait => thread::yield_now(),
            }
        }
    }
}
