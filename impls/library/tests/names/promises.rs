//! What the crate promises beyond the names.

use std::cell::Cell;
use std::error::Error;
use std::sync::Mutex;
use std::thread;

use alts::{Receiver, RecvError, SendError, Sender, TrySendError, bounded, select, unbounded};
use flowmeter_harness::sync::std::block_on;

/// No `Debug`.
struct Opaque;

#[test]
fn borrowed_values_cross_a_scope() {
    let words = Mutex::new(vec!["a".to_owned(), "b".to_owned()]);
    let mut seen = Vec::new();
    {
        let held = words.lock().unwrap();
        for (tx, rx) in [bounded(0), bounded(1), unbounded()] {
            thread::scope(|threads| {
                threads.spawn(|| {
                    for word in held.iter() {
                        tx.send(word.as_str()).unwrap();
                    }
                    drop(tx);
                });
                seen.extend(rx.iter());
            });
        }
        assert_eq!(seen, ["a", "b", "a", "b", "a", "b"]);
    }
}

#[test]
fn borrowed_values_are_awaited() {
    let text = String::from("text");
    let (tx, rx) = bounded(1);
    block_on(async {
        tx.send_async(&text).await.unwrap();
        assert_eq!(rx.recv_async().await, Ok(&text));
    });
}

#[test]
fn a_value_that_is_sent_by_none_is_dropped_once() {
    struct Counted<'c>(&'c Cell<u32>);
    // SAFETY: the test has one thread.
    unsafe impl Send for Counted<'_> {}
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    let dropped = Cell::new(0);
    let (tx, rx) = bounded(2);
    for _ in 0..2 {
        assert!(tx.send(Counted(&dropped)).is_ok());
    }
    let refused = tx.try_send(Counted(&dropped)).unwrap_err();
    drop(refused.into_inner());
    assert_eq!(dropped.get(), 1);
    drop(rx);
    assert_eq!(dropped.get(), 3);
    assert!(tx.send(Counted(&dropped)).is_err());
    assert_eq!(dropped.get(), 4);
}

#[test]
fn errors_of_any_value_are_errors() {
    fn send(tx: &Sender<Opaque>) -> Result<(), Box<dyn Error + Send + Sync>> {
        tx.try_send(Opaque)?;
        tx.send(Opaque)?;
        Ok(())
    }
    let (tx, rx) = bounded(1);
    drop(rx);
    let text = send(&tx).unwrap_err().to_string();
    assert_eq!(text, "the channel is disconnected: it has no receiver left");
}

#[test]
fn errors_convert() {
    let error: TrySendError<u8> = SendError(1).into();
    assert_eq!((error.is_disconnected(), error.into_inner()), (true, 1));
    assert_eq!(
        alts::TryRecvError::from(RecvError),
        alts::TryRecvError::Disconnected
    );
    assert_eq!(
        format!("{:?} {:?}", SendError(Opaque), TrySendError::Full(Opaque)),
        "SendError(..) Full(..)"
    );
}

/// core.async's channels admit 1,024.
#[test]
fn any_number_may_wait() {
    const WAITING: u64 = 1500;
    let (tx, rx) = bounded::<u64>(0);
    let mut takes: Vec<_> = (0..WAITING).map(|_| Box::pin(rx.recv_async())).collect();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for take in &mut takes {
        assert!(take.as_mut().poll(&mut context).is_pending());
    }
    for value in 0..WAITING {
        tx.try_send(value).unwrap();
    }
    let taken = takes.into_iter().map(|take| block_on(take).unwrap());
    assert!(taken.eq(0..WAITING));
}

#[test]
fn arms_are_in_place() {
    fn first(numbers: &Receiver<u8>, words: &Receiver<&'static str>) -> Result<usize, RecvError> {
        loop {
            select! {
                recv(numbers) -> number => if number? > 1 { break },
                recv(words) -> word => return Ok(word?.len()),
            }
        }
        Ok(0)
    }
    let (number, numbers) = unbounded();
    let (word, words) = unbounded();
    number.send(1).unwrap();
    number.send(2).unwrap();
    assert_eq!(first(&numbers, &words), Ok(0));
    word.send("four").unwrap();
    assert_eq!(first(&numbers, &words), Ok(4));
    drop(word);
    assert_eq!(first(&numbers, &words), Err(RecvError));
}

#[test]
fn halves_are_shared_and_sent() {
    fn shared<T: Send + Sync>() {}
    shared::<Sender<Cell<u8>>>();
    shared::<Receiver<Cell<u8>>>();
    fn sent<T: Send>(_: T) {}
    let (tx, rx) = bounded::<Cell<u8>>(1);
    sent(tx.send_async(Cell::new(1)));
    sent(rx.recv_async());
}
