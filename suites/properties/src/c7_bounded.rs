//! C7: the number of waiters is bounded, and abandoned waiters do not pile up.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! 1,024 takes wait
//! take 1,025 waits           it must be refused with TooManyWaiters
//!
//! 10,240 takes are polled once and dropped
//! take -> TooManyWaiters     abandoned takes still count
//! ```

use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, PutError, TakeError};
use flowmeter_harness::sync::world;

use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c7-bounded-waiters",
    statement: "The waiter above the limit gets an error, the channel stays usable, abandoned waiters do not count.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

/// The limit that SEMANTICS.md states.
const LIMIT: usize = 1024;

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    // A model checker cannot explore so many waiters.
    if !design.claims(Claim::BoundedWaiters) || world::name() != "std" {
        return Vec::new();
    }
    let mut cases = Vec::new();
    if channels.awaits() {
        cases.push(Case::new("10,000 abandoned takes", move || {
            abandoned_takes(channels)
        }));
    }
    if channels.calls_back() {
        cases.push(Case::new("1,025 takes", move || too_many_takes(channels)));
        cases.push(Case::new("1,025 puts", move || too_many_puts(channels)));
    }
    cases
}

fn open(channels: Channels) -> (Tx<usize>, Rx<usize>) {
    channels
        .open(Buffer::Rendezvous)
        .expect("only families with a rendezvous claim a bound")
}

fn too_many_takes(channels: Channels) {
    // Declared before the channel: a failed judgement drops the channel, which then answers the callbacks that still
    // wait.
    let (answers, seen) = mpsc::channel();
    let (puts, put) = mpsc::channel();
    let (tx, rx) = open(channels);
    for _ in 0..=LIMIT {
        let answers = answers.clone();
        rx.take_then(move |answer| answers.send(answer).expect("it is being watched"));
    }
    holds_eq!(
        seen.try_recv(),
        Ok(Err(TakeError::TooManyWaiters)),
        "C7: waiter {} was admitted",
        LIMIT + 1
    );
    // The channel contains a panic inside a callback, so the answer is judged outside.
    tx.put_then(5, move |answer| {
        puts.send(answer).expect("it is being watched")
    });
    holds_eq!(
        put.try_recv(),
        Ok(Ok(())),
        "C7: the channel is not usable after a refusal"
    );
    holds_eq!(
        seen.try_recv(),
        Ok(Ok(5)),
        "C7: the first waiter was not served after a refusal"
    );
}

fn too_many_puts(channels: Channels) {
    let (answers, seen) = mpsc::channel();
    let (takes, took) = mpsc::channel();
    let (tx, rx) = open(channels);
    for value in 0..=LIMIT {
        let answers = answers.clone();
        tx.put_then(value, move |answer| {
            answers.send(answer).expect("it is being watched")
        });
    }
    let refused = seen.try_recv();
    holds_eq!(
        refused,
        Ok(Err(PutError::TooManyWaiters(LIMIT))),
        "C7: waiter {} was admitted",
        LIMIT + 1
    );
    rx.take_then(move |answer| takes.send(answer).expect("it is being watched"));
    holds_eq!(
        took.try_recv(),
        Ok(Ok(0)),
        "C4: the first waiter was not served first"
    );
    holds_eq!(
        seen.try_recv(),
        Ok(Ok(())),
        "C7: a put was taken, and not told after a refusal"
    );
}

fn abandoned_takes(channels: Channels) {
    let (mut tx, mut rx) = open(channels);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..10 * LIMIT {
        let take = pin!(rx.take_async());
        holds_eq!(
            take.poll(&mut context),
            Poll::Pending,
            "C7: an abandoned take counts as waiting"
        );
    }
    let offered = tx.offer(1);
    holds_eq!(
        offered,
        flowmeter_harness::channel::Offered::WouldWait(1),
        "C9: an abandoned take is served"
    );
}
