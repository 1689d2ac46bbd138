//! A stand-alone reproduction, through tokio's own API, of why its sleeps do not claim `answers-sleepers`
//! (T8). It asserts the behaviour as it is: once a release changes it, the test fails.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a published crate on this thread: no checker watches"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

#[test]
fn a_sleep_that_is_polled_after_its_runtime_has_ended_panics() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let mut sleep = {
        let _context = runtime.enter();
        Box::pin(tokio::time::sleep(Duration::from_secs(600)))
    };
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(sleep.as_mut().poll(&mut context), Poll::Pending);
    drop(runtime);
    // T8 says that the sleep ends, as if its time had come.
    let after = catch_unwind(AssertUnwindSafe(|| sleep.as_mut().poll(&mut context)));
    assert!(after.is_err(), "it answered {after:?}");
}
