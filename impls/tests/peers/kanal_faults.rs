//! Stand-alone reproductions, through kanal's own API, of why its adapter claims no put-deadline and fails
//! `c11-forms`. Each test asserts the fault as it is: once a release fixes it, the test fails.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "real threads against published crates: no checker watches"
)]

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

/// Counts its drops and owns nothing, so a second drop only changes the count.
struct Counted(&'static AtomicUsize);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn send_option_timeout_drops_a_delivered_value_again() {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    let (tx, rx) = kanal::bounded(0);
    let producer = thread::spawn(move || {
        let mut value = Some(Counted(&DROPS));
        tx.send_option_timeout(&mut value, Duration::from_secs(600))
    });
    // On a rendezvous this returns a value only once the put waits.
    let taken = loop {
        match rx.try_recv() {
            Ok(Some(value)) => break value,
            Ok(None) => thread::yield_now(),
            Err(why) => panic!("the producer waits until it is served, yet: {why}"),
        }
    };
    let answer = producer.join().expect("the producer ends well");
    assert_eq!(answer, Ok(()));
    // C10 says 0: the taker holds the value.
    assert_eq!(DROPS.load(Ordering::SeqCst), 1);
    drop(taken);
    assert_eq!(DROPS.load(Ordering::SeqCst), 2);
}

#[test]
fn send_timeout_leaks_the_value_of_a_put_that_timed_out() {
    let (tx, _rx) = kanal::bounded(0);
    let value = Arc::new(());
    let answer = tx.send_timeout(Arc::clone(&value), Duration::ZERO);
    assert_eq!(answer, Err(kanal::SendErrorTimeout::Timeout));
    // C10 says 1: the channel does not hold the value, and it was not returned.
    assert_eq!(Arc::strong_count(&value), 2);
}

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Woken {
    /// How often the waker of a future's first poll was woken, and that of its second.
    fn by(mut poll: impl FnMut(&mut Context<'_>) -> bool, serve: impl FnOnce()) -> [usize; 2] {
        let wakers = [(); 2].map(|()| Arc::new(Woken::default()));
        for woken in &wakers {
            let waker = Waker::from(Arc::clone(woken));
            let pending = poll(&mut Context::from_waker(&waker));
            assert!(pending, "it waits until it is served");
        }
        serve();
        wakers.map(|woken| woken.0.load(Ordering::SeqCst))
    }
}

/// `Future::poll`: "only the Waker from the Context passed to the most recent call should be scheduled to
/// receive a wakeup". A send that is polled under one waker and then awaited under another, say by another
/// task, sleeps for ever.
#[test]
fn a_send_future_wakes_the_waker_of_its_first_poll() {
    let (tx, rx) = kanal::bounded_async(1);
    assert_eq!(tx.try_send(1), Ok(true));
    let mut send = pin!(tx.send(2));
    let woken = Woken::by(
        |context| send.as_mut().poll(context).is_pending(),
        || assert_eq!(rx.try_recv(), Ok(Some(1))),
    );
    // The contract says [0, 1].
    assert_eq!(woken, [1, 0]);
}

/// The receiving side renews it, so the test above shows no artefact of the test.
#[test]
fn a_receive_future_wakes_the_waker_of_its_latest_poll() {
    let (tx, rx) = kanal::bounded_async(1);
    let mut receive = pin!(rx.recv());
    let woken = Woken::by(
        |context| receive.as_mut().poll(context).is_pending(),
        || assert_eq!(tx.try_send(1), Ok(true)),
    );
    assert_eq!(woken, [0, 1]);
}
