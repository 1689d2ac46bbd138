//! Stand-alone reproductions, against kanal's own API, of why its adapter claims no put-deadline. Once a
//! release puts one right, its test fails and the claim can be made.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "real threads against published crates: no checker watches"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Counts its drops and owns nothing: dropped twice it does no harm beyond the count.
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
    // On a rendezvous this answers with a value only once the put waits.
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
    // C10 says 1: the channel does not hold the value, and it did not come back.
    assert_eq!(Arc::strong_count(&value), 2);
}
