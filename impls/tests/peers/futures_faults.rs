//! Stand-alone reproductions, through futures' own API, of why `buffered` and `buffer_unordered` fail
//! `p4-faults`. Each test asserts the fault as it is: once a release fixes it, the test fails.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a published crate on this thread: no checker watches"
)]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures_util::stream::{self, Stream, StreamExt};

/// Four items, of which the first panics when it is polled.
fn items() -> impl Stream<Item = impl Future<Output = u32>> {
    stream::iter(0..4).map(|input| async move {
        if input == 0 {
            resume_unwind(Box::new("an item's own fault"));
        }
        input
    })
}

/// What the stream delivers, and how many of its polls unwind. `go_on`: it is polled again after a panic.
fn delivered(stream: impl Stream<Item = u32>, go_on: bool) -> (Vec<u32>, u32) {
    let mut stream = pin!(stream);
    let mut context = Context::from_waker(Waker::noop());
    let (mut results, mut panics) = (Vec::new(), 0);
    loop {
        let poll = AssertUnwindSafe(|| stream.as_mut().poll_next(&mut context));
        match catch_unwind(poll) {
            Ok(Poll::Ready(Some(result))) => results.push(result),
            Ok(Poll::Ready(None)) => break,
            // All items end at their first poll, so the stream would never be woken.
            Ok(Poll::Pending) => break,
            Err(_) => panics += 1,
        }
        if panics > 0 && !go_on {
            break;
        }
    }
    (results, panics)
}

/// P4 says that the other three are delivered.
#[test]
fn an_item_that_panics_ends_the_task_that_polls_the_stream() {
    assert_eq!(delivered(items().buffered(2), false), (vec![], 1));
    assert_eq!(delivered(items().buffer_unordered(2), false), (vec![], 1));
}

/// Catching the panic helps the unordered stream only. The ordered one waits for the result that never comes,
/// takes all other results in, and then reports its end.
#[test]
fn an_ordered_stream_that_is_polled_on_after_a_panic_loses_every_later_result() {
    assert_eq!(delivered(items().buffered(2), true), (vec![], 1));
    assert_eq!(
        delivered(items().buffer_unordered(2), true),
        (vec![1, 2, 3], 1)
    );
}
