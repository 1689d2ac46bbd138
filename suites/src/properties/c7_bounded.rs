//! C7: what waits is bounded, and what was abandoned does not pile up.

use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

use flowmeter_harness::channel::{Async, Buffer, Callback, Channels, PutError, TakeError};

use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c7-bounded-waiters",
    statement: "The waiter above the limit gets an error, the channel stays usable, abandoned waiters do not count.",
    relied_on_by: Reliance::Nobody,
};

/// The stated limit.
const LIMIT: usize = 1024;

pub(super) fn callback_cases<C: Callback>() -> Vec<Case> {
    vec![
        Case::new("1,025 takes", too_many_takes::<C>),
        Case::new("1,025 puts", too_many_puts::<C>),
    ]
}

pub(super) fn async_cases<C: Async>() -> Vec<Case> {
    vec![Case::new("10,000 abandoned takes", abandoned_takes::<C>)]
}

fn open<C: Channels>() -> (C::Tx<usize>, C::Rx<usize>) {
    C::open(Buffer::Rendezvous).expect("only families with a rendezvous claim a bound")
}

fn too_many_takes<C: Callback>() {
    // Before the channel, which answers those that still wait when a failed judgement drops it.
    let (answers, seen) = mpsc::channel();
    let (puts, put) = mpsc::channel();
    let (tx, rx) = open::<C>();
    for _ in 0..=LIMIT {
        let answers = answers.clone();
        C::take_then(&rx, move |answer| {
            answers.send(answer).expect("it is being watched")
        });
    }
    holds_eq!(
        seen.try_recv(),
        Ok(Err(TakeError::TooManyWaiters)),
        "C7: waiter {} was admitted",
        LIMIT + 1
    );
    // A panic inside a callback stays there, so what it heard is judged out here.
    C::put_then(&tx, 5, move |answer| {
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

fn too_many_puts<C: Callback>() {
    let (answers, seen) = mpsc::channel();
    let (takes, took) = mpsc::channel();
    let (tx, rx) = open::<C>();
    for value in 0..=LIMIT {
        let answers = answers.clone();
        C::put_then(&tx, value, move |answer| {
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
    C::take_then(&rx, move |answer| {
        takes.send(answer).expect("it is being watched")
    });
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

fn abandoned_takes<C: Async>() {
    let (mut tx, mut rx) = open::<C>();
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..10 * LIMIT {
        let take = pin!(C::take_async(&mut rx));
        holds_eq!(
            take.poll(&mut context),
            Poll::Pending,
            "C7: an abandoned take counts as waiting"
        );
    }
    let offered = C::offer(&mut tx, 1);
    holds_eq!(
        offered,
        flowmeter_harness::channel::Offered::WouldWait(1),
        "C9: an abandoned take is served"
    );
}
