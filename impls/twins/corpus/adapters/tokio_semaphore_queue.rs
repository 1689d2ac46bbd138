//! A queue whose values tokio's `Semaphore` counts: a put adds a permit, and a take forgets one. Closing the queue closes the
//! semaphore.

use ::std::collections::VecDeque;
use ::std::sync::atomic::{AtomicUsize, Ordering};
use ::std::sync::{Arc, Mutex};

use ::tokio::sync::Semaphore;
use flowmeter_harness::channel::{
    Async, Buffer, Channels, Message, Offered, Polled, PutError, TakeError,
};

/// A queue that a semaphore counts.
#[derive(Clone, Copy, Debug)]
pub struct Counted;

/// What both halves share.
#[derive(Debug)]
pub struct Shared<T> {
    values: Mutex<VecDeque<T>>,
    counted: Semaphore,
    producers: AtomicUsize,
}

impl<T> Shared<T> {
    fn pop(&self) -> Option<T> {
        self.values.lock().unwrap().pop_front()
    }
}

/// Puts.
#[derive(Debug)]
pub struct Tx<T>(Arc<Shared<T>>);

/// Takes, and closes the queue when it is dropped.
#[derive(Debug)]
pub struct Rx<T>(Arc<Shared<T>>);

impl<T> Drop for Tx<T> {
    fn drop(&mut self) {
        if self.0.producers.fetch_sub(1, Ordering::AcqRel) == 1 {
            let _values = self.0.values.lock().unwrap();
            self.0.counted.close();
        }
    }
}

impl<T> Drop for Rx<T> {
    fn drop(&mut self) {
        let mut values = self.0.values.lock().unwrap();
        self.0.counted.close();
        values.clear();
    }
}

impl Channels for Counted {
    type Tx<T: Message> = Tx<T>;
    type Rx<T: Message> = Rx<T>;

    fn open<T: Message>(buffer: Buffer) -> Option<(Tx<T>, Rx<T>)> {
        (buffer == Buffer::Unbounded).then(|| {
            let shared = Arc::new(Shared {
                values: Mutex::new(VecDeque::new()),
                counted: Semaphore::new(0),
                producers: AtomicUsize::new(1),
            });
            (Tx(Arc::clone(&shared)), Rx(shared))
        })
    }

    fn another_tx<T: Message>(tx: &Tx<T>) -> Option<Tx<T>> {
        tx.0.producers.fetch_add(1, Ordering::AcqRel);
        Some(Tx(Arc::clone(&tx.0)))
    }

    fn close<T: Message>(tx: &Tx<T>) -> bool {
        let _values = tx.0.values.lock().unwrap();
        tx.0.counted.close();
        true
    }

    fn close_rx<T: Message>(rx: &mut Rx<T>) -> bool {
        let _values = rx.0.values.lock().unwrap();
        rx.0.counted.close();
        true
    }

    fn offer<T: Message>(tx: &mut Tx<T>, value: T) -> Offered<T> {
        let mut values = tx.0.values.lock().unwrap();
        if tx.0.counted.is_closed() {
            return Offered::Closed(value);
        }
        values.push_back(value);
        tx.0.counted.add_permits(1);
        Offered::Done
    }

    fn poll<T: Message>(rx: &mut Rx<T>) -> Polled<T> {
        // Forgetting permits works on a closed semaphore too.
        if rx.0.counted.forget_permits(1) == 1 {
            return rx.0.pop().map_or(Polled::WouldWait, Polled::Done);
        }
        let mut values = rx.0.values.lock().unwrap();
        match values.pop_front() {
            // It was put between the two looks.
            Some(value) => {
                rx.0.counted.forget_permits(1);
                Polled::Done(value)
            }
            None if rx.0.counted.is_closed() => Polled::Closed,
            None => Polled::WouldWait,
        }
    }
}

impl Async for Counted {
    async fn put_async<T: Message>(tx: &mut Tx<T>, value: T) -> Result<(), PutError<T>> {
        match Self::offer(tx, value) {
            Offered::Done => Ok(()),
            Offered::WouldWait(value) | Offered::Closed(value) => {
                Err(PutError::Closed(Some(value)))
            }
        }
    }

    async fn take_async<T: Message>(rx: &mut Rx<T>) -> Result<T, TakeError> {
        let acquired = rx.0.counted.acquire().await.map(|permit| permit.forget());
        if acquired.is_ok() {
            return Ok(rx.0.pop().expect("a permit is a value"));
        }
        // A value that is left has a permit, which no task can acquire any more.
        match Self::poll(rx) {
            Polled::Done(value) => Ok(value),
            Polled::WouldWait | Polled::Closed => Err(TakeError::Closed),
        }
    }
}
