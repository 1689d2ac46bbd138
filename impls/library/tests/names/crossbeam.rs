//! Documentation examples of crossbeam-channel 0.5.17. Only the crate behind its name is another. Left out are sleeps,
//! and what this crate has not: `after`, `at`, `tick`, `never`, `Select` and `ready`.

use std::thread;
use std::time::{Duration, Instant};

use alts as crossbeam_channel;

/// Source: the crate's page, "Hello, world!".
#[test]
fn hello_world() {
    use crossbeam_channel::unbounded;

    let (s, r) = unbounded();
    s.send("Hello, world!").unwrap();
    assert_eq!(r.recv(), Ok("Hello, world!"));
}

/// Source: the crate's page, "Channel types", zero capacity.
#[test]
fn zero_capacity() {
    use crossbeam_channel::bounded;

    let (s, r) = bounded(0);
    thread::spawn(move || s.send("Hi!").unwrap());
    assert_eq!(r.recv(), Ok("Hi!"));
}

/// Source: the crate's page, "Sharing channels", clones in another thread.
#[test]
fn clones_in_another_thread() {
    use crossbeam_channel::bounded;

    let (s1, r1) = bounded(0);
    let (s2, r2) = (s1.clone(), r1.clone());
    thread::spawn(move || {
        r2.recv().unwrap();
        s2.send(2).unwrap();
    });
    s1.send(1).unwrap();
    r1.recv().unwrap();
}

/// Source: the crate's page, "Sharing channels", clones are handles of one stream.
#[test]
fn clones_share_a_stream() {
    use crossbeam_channel::unbounded;

    let (s1, r1) = unbounded();
    let (s2, r2) = (s1.clone(), r1.clone());
    let (s3, r3) = (s2.clone(), r2.clone());
    s1.send(10).unwrap();
    s2.send(20).unwrap();
    s3.send(30).unwrap();
    assert_eq!(r3.recv(), Ok(10));
    assert_eq!(r1.recv(), Ok(20));
    assert_eq!(r2.recv(), Ok(30));
}

/// Source: the crate's page, "Sharing channels", by reference; with std's scope.
#[test]
fn by_reference() {
    use crossbeam_channel::bounded;

    let (s, r) = bounded(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            r.recv().unwrap();
            s.send(2).unwrap();
        });
        s.send(1).unwrap();
        r.recv().unwrap();
    });
}

/// Source: the crate's page, "Disconnection".
#[test]
fn disconnection() {
    use crossbeam_channel::{RecvError, unbounded};

    let (s, r) = unbounded();
    s.send(1).unwrap();
    s.send(2).unwrap();
    s.send(3).unwrap();
    drop(s);
    assert_eq!(r.recv(), Ok(1));
    assert_eq!(r.recv(), Ok(2));
    assert_eq!(r.recv(), Ok(3));
    assert!(r.is_empty());
    assert_eq!(r.recv(), Err(RecvError));
}

/// Source: the crate's page, "Blocking operations".
#[test]
fn blocking_operations() {
    use crossbeam_channel::{RecvError, TryRecvError, bounded};

    let (s, r) = bounded(1);
    s.send("foo").unwrap();
    assert_eq!(r.recv(), Ok("foo"));
    assert_eq!(r.try_recv(), Err(TryRecvError::Empty));
    drop(s);
    assert_eq!(r.recv(), Err(RecvError));
}

/// Source: the crate's page, "Iteration", and `Receiver::iter`.
#[test]
fn iteration() {
    use crossbeam_channel::unbounded;

    let (s, r) = unbounded();
    thread::spawn(move || {
        s.send(1).unwrap();
        s.send(2).unwrap();
        s.send(3).unwrap();
        drop(s);
    });
    let v: Vec<_> = r.iter().collect();
    assert_eq!(v, [1, 2, 3]);
}

/// Source: the crate's page, "Iteration", `try_iter`.
#[test]
fn iteration_without_waiting() {
    use crossbeam_channel::unbounded;

    let (s, r) = unbounded();
    s.send(1).unwrap();
    s.send(2).unwrap();
    s.send(3).unwrap();
    let v: Vec<_> = r.try_iter().collect();
    assert_eq!(v, [1, 2, 3]);
}

/// Source: the crate's page, "Selection".
#[test]
fn selection() {
    use crossbeam_channel::{select, unbounded};

    let (s1, r1) = unbounded();
    let (s2, r2) = unbounded();
    thread::spawn(move || s1.send(10).unwrap());
    thread::spawn(move || s2.send(20).unwrap());
    select! {
        recv(r1) -> msg => assert_eq!(msg, Ok(10)),
        recv(r2) -> msg => assert_eq!(msg, Ok(20)),
        default(Duration::from_secs(1)) => println!("timed out"),
    }
}

/// Source: `select!`, its first three examples.
#[test]
fn selection_of_a_send_and_defaults() {
    use crossbeam_channel::{select, unbounded};

    let (s1, r1) = unbounded();
    let (s2, r2) = unbounded();
    s1.send(10).unwrap();
    select! {
        recv(r1) -> msg => assert_eq!(msg, Ok(10)),
        send(s2, 20) -> res => {
            assert_eq!(res, Ok(()));
            assert_eq!(r2.recv(), Ok(20));
        }
    }

    let (_s1, r1) = unbounded::<i32>();
    let (_s2, r2) = unbounded::<i32>();
    select! {
        recv(r1) -> _msg => panic!(),
        recv(r2) -> _msg => panic!(),
        default => println!("not ready"),
    }
    select! {
        recv(r1) -> _msg => panic!(),
        recv(r2) -> _msg => panic!(),
        default(Duration::from_millis(1)) => println!("timed out"),
    }
}

/// Source: `Sender::try_send`.
#[test]
fn try_send() {
    use crossbeam_channel::{TrySendError, bounded};

    let (s, r) = bounded(1);
    assert_eq!(s.try_send(1), Ok(()));
    assert_eq!(s.try_send(2), Err(TrySendError::Full(2)));
    drop(r);
    assert_eq!(s.try_send(3), Err(TrySendError::Disconnected(3)));
}

/// Source: `Sender::send`.
#[test]
fn send() {
    use crossbeam_channel::{SendError, bounded};

    let (s, r) = bounded(1);
    assert_eq!(s.send(1), Ok(()));
    thread::spawn(move || {
        assert_eq!(r.recv(), Ok(1));
        drop(r);
    });
    // The first of them waits for room, or is refused: without the example's sleep, nothing says which.
    let _ = s.send(2);
    assert_eq!(s.send(3), Err(SendError(3)));
}

/// Source: `Sender::send_timeout`, and `Sender::send_deadline`.
#[test]
fn send_in_time() {
    use crossbeam_channel::{SendTimeoutError, bounded};

    let (s, r) = bounded(0);
    assert_eq!(
        s.send_timeout(1, Duration::from_millis(1)),
        Err(SendTimeoutError::Timeout(1)),
    );
    assert_eq!(
        s.send_deadline(1, Instant::now() + Duration::from_millis(1)),
        Err(SendTimeoutError::Timeout(1)),
    );
    let receiver = thread::spawn(move || assert_eq!(r.recv(), Ok(2)));
    assert_eq!(s.send_timeout(2, Duration::from_secs(60)), Ok(()));
    receiver.join().unwrap();
    assert_eq!(
        s.send_timeout(3, Duration::from_millis(500)),
        Err(SendTimeoutError::Disconnected(3)),
    );
}

/// Source: `Receiver::recv_timeout`, and `Receiver::recv_deadline`.
#[test]
fn receive_in_time() {
    use crossbeam_channel::{RecvTimeoutError, unbounded};

    let (s, r) = unbounded();
    assert_eq!(
        r.recv_timeout(Duration::from_millis(1)),
        Err(RecvTimeoutError::Timeout),
    );
    thread::spawn(move || {
        s.send(5).unwrap();
        drop(s);
    });
    assert_eq!(
        r.recv_deadline(Instant::now() + Duration::from_secs(60)),
        Ok(5)
    );
    assert_eq!(
        r.recv_timeout(Duration::from_secs(60)),
        Err(RecvTimeoutError::Disconnected),
    );
}

/// Source: `Receiver::try_recv`.
#[test]
fn try_recv() {
    use crossbeam_channel::{TryRecvError, unbounded};

    let (s, r) = unbounded();
    assert_eq!(r.try_recv(), Err(TryRecvError::Empty));
    s.send(5).unwrap();
    drop(s);
    assert_eq!(r.try_recv(), Ok(5));
    assert_eq!(r.try_recv(), Err(TryRecvError::Disconnected));
}

/// Source: `is_empty`, `is_full`, `len`, `capacity` and `same_channel` of both halves.
#[test]
fn queries() {
    use crossbeam_channel::{bounded, unbounded};

    let (s, r) = bounded(1);
    assert!(s.is_empty() && r.is_empty());
    assert!(!s.is_full() && !r.is_full());
    s.send(0).unwrap();
    assert!(s.is_full() && r.is_full());
    assert_eq!((s.len(), r.len()), (1, 1));

    let (s, _) = unbounded::<i32>();
    assert_eq!(s.capacity(), None);
    let (s, _) = bounded::<i32>(5);
    assert_eq!(s.capacity(), Some(5));
    let (s, _) = bounded::<i32>(0);
    assert_eq!(s.capacity(), Some(0));

    let (s, r) = unbounded::<usize>();
    assert!(s.same_channel(&s.clone()) && r.same_channel(&r.clone()));
    let (s3, r3) = unbounded();
    assert!(!s.same_channel(&s3) && !r.same_channel(&r3));
}
