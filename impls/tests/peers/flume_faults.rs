//! Stand-alone reproductions, through flume's own API, of why its rendezvous fails `c2-histories-async`. Each test
//! asserts the fault as it is: once a release fixes it, the test fails.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a published crate on this thread: no checker watches"
)]

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// A send that finds a waiting receive future wakes it and leaves the value in the queue. The first receive gets
/// the value: here one by the sender itself.
#[test]
fn a_rendezvous_send_is_answered_before_the_receive_future_has_the_value() {
    let (tx, rx) = flume::bounded(0);
    let mut context = Context::from_waker(Waker::noop());
    let mut receive = pin!(rx.recv_async());
    assert_eq!(receive.as_mut().poll(&mut context), Poll::Pending);
    // C1 says that the send ends no earlier than its taker has the value.
    assert_eq!(tx.try_send(1), Ok(()));
    assert_eq!(rx.try_recv(), Ok(1));
    assert_eq!(receive.as_mut().poll(&mut context), Poll::Pending);
}

/// `bounded`: at capacity 0 "senders and receivers perform a handshake and transfer ownership of a value". Here the
/// receiver is dropped before it has the value, and the channel stores it.
#[test]
fn a_rendezvous_stores_the_value_of_a_receive_future_that_is_dropped() {
    let (tx, rx) = flume::bounded(0);
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut receive = pin!(rx.recv_async());
        assert_eq!(receive.as_mut().poll(&mut context), Poll::Pending);
        assert_eq!(tx.send(1), Ok(()));
    }
    // C1 says 0: no receiver has the value, so its send has not ended.
    assert_eq!(rx.len(), 1);
    assert_eq!(rx.try_recv(), Ok(1));
}

/// Without a waiting receiver the send is refused: the tests above show a fault of waiting futures only.
#[test]
fn a_rendezvous_send_without_a_receiver_would_wait() {
    let (tx, rx) = flume::bounded(0);
    assert_eq!(tx.try_send(1), Err(flume::TrySendError::Full(1)));
    assert_eq!(rx.try_recv(), Err(flume::TryRecvError::Empty));
}
