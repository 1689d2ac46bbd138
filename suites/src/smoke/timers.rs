//! A timer alone: one deadline fires and not early, one that was cancelled does not.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use flowmeter_harness::sync::std::Std;
use flowmeter_harness::sync::{Deadline, World};
use flowmeter_harness::timer::{Cancel, Timers};

/// No whole number of milliseconds, in which some designs count.
const DELAY: Duration = Duration::from_micros(5_400);
/// Only a failure takes so long.
const PATIENCE: Duration = Duration::from_secs(5);

/// Arms a timer; returns its deadline, and a receiver of the moment at which it is called.
fn arm<T: Timers>(service: &T, delay: Duration) -> (T::Handle, Deadline, Receiver<u64>) {
    let deadline = Deadline::after(Std::now_nanos(), delay);
    let (tells, called) = channel();
    let handle = service.schedule(deadline, move |_| {
        let _ = tells.send(Std::now_nanos());
    });
    (handle, deadline, called)
}

/// One timer fires, and not early.
pub(crate) fn timer<T: Timers>() {
    let service = T::start();
    let (_handle, deadline, called) = arm(&service, DELAY);
    let at = called.recv_timeout(PATIENCE);
    let at = at.unwrap_or_else(|why| panic!("a timer did not fire: {why}"));
    assert!(at >= deadline.as_nanos(), "a timer fired early");
}

/// One timer is cancelled, and a later one fires alone.
pub(crate) fn cancel<T: Cancel>() {
    let service = T::start();
    let (cancelled, _, called) = arm(&service, DELAY);
    let (_handle, _, later) = arm(&service, 2 * DELAY);
    if !service.cancel(&cancelled) {
        // This thread was delayed that long.
        return;
    }
    let fired = later.recv_timeout(PATIENCE);
    fired.unwrap_or_else(|why| panic!("a timer beside a cancelled one did not fire: {why}"));
    let fate = called.recv_timeout(PATIENCE);
    assert_eq!(
        fate,
        Err(RecvTimeoutError::Disconnected),
        "a cancelled timer fired, or its callback is still there"
    );
}
