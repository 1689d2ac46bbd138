//! Stand-alone reproductions, through loole's own API, of why it fails `c2-histories-async` and `c2-outcomes` on a
//! rendezvous, and does not claim `calls-unlocked`. Each test asserts the fault as it is: once a release fixes it, the test fails.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "real threads against published crates: no checker watches"
)]

use std::pin::pin;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use loole::{RecvError, TryRecvError, TrySendError};

/// C1: on a rendezvous a put ends no earlier than its taker has the value. Here the sender is answered and drops
/// the receive future that it met. The value is still in a channel that has room for none.
#[test]
fn a_send_is_answered_before_the_future_that_it_met_has_the_value() {
    let (tx, rx) = loole::bounded(0);
    {
        let mut receive = pin!(rx.recv_async());
        let mut context = Context::from_waker(Waker::noop());
        assert!(receive.as_mut().poll(&mut context).is_pending());
        assert_eq!(tx.try_send(1), Ok(()));
    }
    // C1 says that no receiver has it, so the send is refused.
    assert_eq!(rx.try_recv(), Ok(1));
}

/// The same with a thread that waits in `recv`: the faster thread gets the value, here the sender itself.
#[test]
fn a_sender_takes_back_what_a_waiting_thread_was_given() {
    const TRIES: usize = 10_000;
    let (tx, rx) = loole::bounded(0);
    let waiting = rx.clone();
    let consumer = thread::spawn(move || {
        let values = std::iter::from_fn(|| waiting.recv().ok());
        values.count()
    });
    let taken_back = (0..TRIES).filter(|_| {
        // Refused until the thread waits.
        while let Err(TrySendError::Full(())) = tx.try_send(()) {
            thread::yield_now();
        }
        match rx.try_recv() {
            Ok(()) => true,
            Err(TryRecvError::Empty) => false,
            Err(TryRecvError::Disconnected) => panic!("the sender lives"),
        }
    });
    let taken_back = taken_back.count();
    drop(tx);
    let given = consumer.join().expect("the consumer ends well");
    assert_eq!(given + taken_back, TRIES);
    // C1 says none.
    assert_ne!(taken_back, 0, "of {TRIES}");
    assert_eq!(rx.recv(), Err(RecvError::Disconnected));
}

/// C11: code of the user runs with no lock held. Here a send future that waits is dropped with its value, which looks at the
/// channel as it is dropped.
#[test]
fn a_value_that_looks_at_its_channel_as_it_is_dropped_hangs() {
    struct Looks(loole::Sender<Option<Looks>>, mpsc::Sender<()>);
    impl Drop for Looks {
        fn drop(&mut self) {
            let _ = self.0.len();
            let _ = self.1.send(());
        }
    }
    let (tx, rx) = loole::bounded(1);
    let (looked, seen) = mpsc::channel();
    let (begins, begun) = mpsc::channel();
    thread::spawn(move || {
        assert!(tx.try_send(None).is_ok());
        let mut send = Box::pin(tx.send_async(Some(Looks(tx.clone(), looked))));
        let mut context = Context::from_waker(Waker::noop());
        assert!(send.as_mut().poll(&mut context).is_pending());
        begins.send(()).expect("the test waits for it");
        drop(send);
    });
    begun.recv().expect("the send waits");
    let patience = Duration::from_millis(300);
    let seen = seen.recv_timeout(patience);
    // Its drop would wait for the lock, too.
    std::mem::forget(rx);
    assert_eq!(seen, Err(RecvTimeoutError::Timeout), "it has looked");
}
