//! Stand-alone reproductions, through thingbuf's own API, of why its adapter claims no put-deadline and fails
//! `c10-dropped-futures`. Each test asserts the fault as it is: once a release fixes it, the test fails.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "real threads against published crates: no checker watches"
)]

use std::pin::pin;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use thingbuf::mpsc;
use thingbuf::mpsc::blocking;

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Two sends wait, a value is taken, and the send that was woken is dropped before its next poll. Its wake-up is
/// lost: the other send keeps sleeping in front of a free slot.
#[test]
fn a_send_future_that_is_dropped_takes_its_wake_up_along() {
    let (tx, rx) = mpsc::channel(1);
    assert!(tx.try_send(1).is_ok());
    let wakers = [(); 2].map(|()| Arc::new(Woken::default()));
    let [first, second] = wakers.clone().map(Waker::from);
    let mut stays = pin!(tx.send(3));
    {
        let mut goes = pin!(tx.send(2));
        let pending = goes.as_mut().poll(&mut Context::from_waker(&first));
        assert!(pending.is_pending());
        let pending = stays.as_mut().poll(&mut Context::from_waker(&second));
        assert!(pending.is_pending());
        assert_eq!(rx.try_recv().ok(), Some(1));
        assert_eq!(
            wakers
                .each_ref()
                .map(|woken| woken.0.load(Ordering::SeqCst)),
            [1, 0]
        );
    }
    assert_eq!(tx.remaining(), 1);
    // C10 says 1: the slot is free, and no other send waits for it.
    assert_eq!(wakers[1].0.load(Ordering::SeqCst), 0);
}

/// With this variable set, the test below does the harm that it otherwise observes from another process.
const HARM: &str = "THINGBUF_FAULTS_HARM";

/// A send that times out leaves its entry, which is on its stack, in the list of waiters. The next waiter links
/// itself to that memory, and a receiver that is dropped walks it. The behaviour is undefined; with debug assertions
/// the crate's own assertion fails.
#[test]
#[cfg_attr(
    not(debug_assertions),
    ignore = "without assertions nothing need be seen of it"
)]
fn a_send_that_timed_out_is_still_in_the_list_of_waiters() {
    if std::env::var_os(HARM).is_some() {
        let (tx, rx) = blocking::channel(1);
        tx.send(1).expect("there is room");
        for value in 2..5 {
            let sent = tx.send_timeout(value, Duration::from_micros(50));
            assert!(sent.is_err(), "there is no room");
        }
        drop(rx);
        return;
    }
    let name = "thingbuf_faults::a_send_that_timed_out_is_still_in_the_list_of_waiters";
    let program = std::env::current_exe().expect("this test has a path");
    let child = Command::new(program)
        .args(["--exact", name])
        .env(HARM, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(!child.expect("it starts").success());
}
