//! Examples of flume 0.12: those of its documentation, of its README and of `examples/`, and the calls of
//! `tests/basic.rs` and `tests/async.rs`. Only the crate behind its name is another. Left out are sleeps, and what this
//! crate has not: `Selector`, owned futures (`into_recv_async`), `stream` and `sink`. `RecvError` is std's unit struct.

use std::thread;
use std::time::{Duration, Instant};

use alts as flume;
use flowmeter_harness::sync::std::block_on;

/// Source: the crate's page, and `unbounded`.
#[test]
fn first_example() {
    let (tx, rx) = flume::unbounded();

    tx.send(42).unwrap();
    assert_eq!(rx.recv().unwrap(), 42);
}

/// Source: README.md.
#[test]
fn sum_of_what_a_thread_sends() {
    let (tx, rx) = flume::unbounded();

    thread::spawn(move || {
        (0..10).for_each(|i| {
            tx.send(i).unwrap();
        })
    });

    let received: u32 = rx.iter().sum();
    assert_eq!((0..10).sum::<u32>(), received);
}

/// Source: `bounded`.
#[test]
fn bounded() {
    let (tx, rx) = flume::bounded(32);

    for i in 1..33 {
        tx.send(i).unwrap();
    }
    assert!(tx.try_send(33).is_err());

    assert_eq!(rx.try_iter().sum::<u32>(), (1..33).sum());
}

/// Source: `examples/simple.rs`.
#[test]
fn two_greetings() {
    let (tx, rx) = flume::unbounded();

    let t = thread::spawn(move || rx.iter().collect::<Vec<_>>());
    tx.send("Hello, world!").unwrap();
    tx.send("How are you today?").unwrap();
    drop(tx);

    assert_eq!(t.join().unwrap(), ["Hello, world!", "How are you today?"]);
}

/// Source: `examples/async.rs`.
#[test]
fn two_greetings_of_a_task() {
    let (tx, rx) = flume::bounded(1);

    let t = thread::spawn(move || {
        block_on(async move {
            let mut heard = Vec::new();
            while let Ok(msg) = rx.recv_async().await {
                heard.push(msg);
            }
            heard
        })
    });
    block_on(async move {
        tx.send_async("Hello, world!").await.unwrap();
        tx.send_async("How are you today?").await.unwrap();
        drop(tx);
    });

    assert_eq!(t.join().unwrap(), ["Hello, world!", "How are you today?"]);
}

/// Source: `examples/perf.rs`, `robin` in `tests/basic.rs`; fewer threads.
#[test]
fn robin() {
    let (mut main_tx, main_rx) = flume::bounded::<()>(1);

    for _ in 0..8 {
        let (mut tx, rx) = flume::bounded(1);
        std::mem::swap(&mut tx, &mut main_tx);
        thread::spawn(move || {
            for msg in rx.iter() {
                tx.send(msg).unwrap();
            }
        });
    }
    for _ in 0..10 {
        let main_tx = main_tx.clone();
        thread::spawn(move || {
            for _ in 0..16 {
                main_tx.send(()).unwrap();
            }
        });
        for _ in 0..16 {
            main_rx.recv().unwrap();
        }
    }
}

/// Source: `iter_threaded` in `tests/basic.rs`; fewer threads.
#[test]
fn iter_threaded() {
    let (tx, rx) = flume::unbounded();
    for i in 0..100 {
        let tx = tx.clone();
        thread::spawn(move || tx.send(i).unwrap());
    }
    drop(tx);
    assert_eq!(rx.iter().sum::<u32>(), (0..100).sum());
}

/// Source: `send_timeout`, `recv_timeout` and `recv_deadline` in `tests/basic.rs`; shorter.
#[test]
fn in_time() {
    let dur = Duration::from_millis(2);
    let (tx, rx) = flume::bounded(1);

    assert!(tx.send_timeout(42, dur).is_ok());
    let then = Instant::now();
    assert!(tx.send_timeout(43, dur).is_err());
    assert!(then.elapsed() >= dur);
    assert_eq!(rx.drain().count(), 1);

    assert!(rx.recv_timeout(dur).is_err());
    assert!(rx.recv_deadline(then.checked_add(dur).unwrap()).is_err());
    tx.send(42).unwrap();
    assert_eq!(rx.recv_timeout(dur), Ok(42));

    drop(rx);
    assert!(tx.send_timeout(42, Duration::from_millis(350)).is_err());
}

/// Source: `drain` in `tests/basic.rs`.
#[test]
fn drain() {
    let (tx, rx) = flume::unbounded();
    for i in 0..100 {
        tx.send(i).unwrap();
    }
    assert_eq!(rx.drain().sum::<u32>(), (0..100).sum());

    for i in 0..200 {
        tx.send(i).unwrap();
    }
    rx.recv().unwrap();
    (1u32..200).zip(rx).for_each(|(l, r)| assert_eq!(l, r));
}

/// Source: `try_send` in `tests/basic.rs`.
#[test]
fn try_send() {
    let (tx, rx) = flume::bounded(5);
    for i in 0..5 {
        tx.try_send(i).unwrap();
    }
    assert!(tx.try_send(42).is_err());
    assert_eq!(rx.recv(), Ok(0));
    assert_eq!(tx.try_send(42), Ok(()));
    assert_eq!(rx.recv(), Ok(1));
    drop(rx);
    assert!(tx.try_send(42).is_err());
}

/// Source: `disconnect_tx` and `disconnect_rx` in `tests/basic.rs`.
#[test]
fn disconnect() {
    let (tx, rx) = flume::unbounded::<()>();
    drop(tx);
    assert!(rx.recv().is_err() && rx.is_disconnected());

    let (tx, rx) = flume::unbounded();
    drop(rx);
    assert!(tx.send(0).is_err() && tx.is_disconnected());
}

/// Source: `async_send_disconnect` and `async_recv_drop_recv` in `tests/async.rs`.
#[test]
fn dropped_while_it_waits() {
    let (tx, rx) = flume::bounded(10);
    let recv_fut = rx.recv_async();
    let rx2 = rx.clone();
    let t = thread::spawn(move || block_on(async { rx2.recv_async().await }));
    tx.send(42).unwrap();
    drop(recv_fut);
    assert_eq!(t.join().unwrap(), Ok(42));

    drop(rx);
    assert_eq!(block_on(tx.send_async(42)), Err(flume::SendError(42)));
}

/// Source: `sender_count`, `receiver_count` and `Sender::downgrade`.
#[test]
fn counts_and_weak_senders() {
    let (tx, rx) = flume::bounded::<u8>(1);
    let weak = tx.downgrade();
    let tx2 = weak.upgrade().unwrap();
    assert_eq!((tx.sender_count(), rx.receiver_count()), (2, 1));
    drop((tx, tx2));
    assert!(weak.upgrade().is_none() && rx.is_disconnected());
}
