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
//!
//! 1,024 takes wait
//! take until a deadline      it must be refused too, as in each other form
//! ```

use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{
    AltsError, Buffer, Offered, Order, Patience, Polled, PutError, PutUntilError, ReserveError,
    TakeError, TakeUntilError,
};
use flowmeter_harness::sync::{Deadline, world};

use super::{Case, Cases, Property, Reliance};
use crate::design::channels::{Clause, Design};
use crate::design::{Channels, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c7-bounded-waiters",
    statement: "The waiter above the limit gets an error, the channel stays usable, abandoned waiters do not count.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

/// The limit that SEMANTICS.md states.
const LIMIT: usize = 1024;

/// Runs of an alts without priority: enough that each clause is tried first in some.
const RUNS: usize = 16;

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    // A model checker cannot explore so many waiters. The one schedule of `sim` has time for them.
    let has_rendezvous = channels.having(&[Buffer::Rendezvous]).next().is_some();
    let has_time = matches!(world::name(), "std" | "sim");
    if !design.claims(Claim::BoundedWaiters) || !has_rendezvous || !has_time {
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
        cases.push(Case::new("callbacks that hear of a refusal", move || {
            refused_callbacks(channels)
        }));
        cases.push(Case::new("takes of each form, behind 1,024", move || {
            takes_of_each_form(channels)
        }));
        cases.push(Case::new("puts of each form, behind 1,024", move || {
            puts_of_each_form(channels)
        }));
        if channels.awaits_room() || channels.blocks_for_room() {
            cases.push(Case::new("reservations behind 1,024 puts", move || {
                reservations(channels)
            }));
        }
    }
    cases
}

fn open(channels: Channels) -> (Tx<usize>, Rx<usize>) {
    channels.open(Buffer::Rendezvous).expect("asked before")
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

/// A refusal is told with no lock held: its callback may use the channel.
fn refused_callbacks(channels: Channels) {
    let (answers, seen) = mpsc::channel();
    let (tx, rx) = open(channels);
    for _ in 0..LIMIT {
        rx.take_then(|_| ());
    }
    if let Some(mut tx) = tx.another() {
        let answers = answers.clone();
        rx.take_then(move |answer| {
            let uses = matches!(tx.offer(1), Offered::Done);
            let refused = answer == Err(TakeError::TooManyWaiters);
            answers.send((refused, uses)).expect("it is being watched");
        });
        let told = seen.try_recv();
        holds_eq!(
            told,
            Ok((true, true)),
            "C7: a refused take, and a put in its callback"
        );
    }
    let (tx, rx) = open(channels);
    for value in 0..LIMIT {
        tx.put_then(value, |_| ());
    }
    if let Some(mut rx) = rx.another() {
        tx.put_then(LIMIT, move |answer| {
            let uses = rx.poll() == Polled::Done(0);
            let refused = answer == Err(PutError::TooManyWaiters(LIMIT));
            answers.send((refused, uses)).expect("it is being watched");
        });
        let told = seen.try_recv();
        holds_eq!(
            told,
            Ok((true, true)),
            "C7: a refused put, and a take in its callback"
        );
    }
}

/// A blocking form that is wrongly admitted waits for ever. Only explored worlds report that.
fn reports_deadlocks() -> bool {
    world::name() != "std"
}

/// What is admitted wrongly comes to an end. A thread that is held up is refused before that.
fn at_last() -> Deadline {
    Deadline::after(world::now_nanos(), Duration::from_secs(10))
}

/// The first run tries the first clause first, the others any.
fn order(run: usize) -> Order {
    match run {
        0 => Order::Priority,
        _ => Order::Random,
    }
}

fn takes_of_each_form(channels: Channels) {
    let (_tx, mut rx) = open(channels);
    for _ in 0..LIMIT {
        rx.take_then(|_| ());
    }
    let refused = |form: &str, answer: Result<usize, TakeError>| {
        holds_eq!(
            answer,
            Err(TakeError::TooManyWaiters),
            "C7: {form}, one above the limit"
        );
    };
    if channels.awaits() {
        refused("a take that is awaited", polled(rx.take_async()));
    }
    if channels.takes_until() {
        let taken = rx.take_until(at_last());
        holds_eq!(
            taken,
            Err(TakeUntilError::Take(TakeError::TooManyWaiters)),
            "C7: a take with a deadline, one above the limit"
        );
    }
    if channels.chooses() {
        let (mut elsewhere, other) = open(channels);
        let clauses = channels.clauses(&[Clause::Take(&other), Clause::Take(&rx)]);
        for run in 0..RUNS {
            let mut alts = clauses.prepare(order(run));
            let chosen = alts.run(&mut [None, None], Patience::Until(at_last()));
            holds_eq!(
                chosen.map(|_| ()),
                Err(AltsError::TooManyWaiters { clause: 1 }),
                "C7: an alts, one above the limit in its second clause"
            );
        }
        let offered = elsewhere.offer(0);
        holds_eq!(
            offered,
            Offered::WouldWait(0),
            "A1: a refused alts waits on in its first clause"
        );
    }
    if channels.blocks() && reports_deadlocks() {
        refused("a take that blocks", rx.take());
    }
}

fn puts_of_each_form(channels: Channels) {
    let (mut tx, _rx) = open(channels);
    for value in 0..LIMIT {
        tx.put_then(value, |_| ());
    }
    let refused = |form: &str, answer: Result<(), PutError<usize>>| {
        holds_eq!(
            answer,
            Err(PutError::TooManyWaiters(LIMIT)),
            "C7: {form}, one above the limit"
        );
    };
    if channels.awaits() {
        refused("a put that is awaited", polled(tx.put_async(LIMIT)));
    }
    if channels.puts_until() {
        let put = tx.put_until(LIMIT, at_last());
        holds_eq!(
            put,
            Err(PutUntilError::Put(PutError::TooManyWaiters(LIMIT))),
            "C7: a put with a deadline, one above the limit"
        );
    }
    if channels.chooses() {
        let (other, mut elsewhere) = open(channels);
        let clauses = channels.clauses(&[Clause::Put(&other), Clause::Put(&tx)]);
        for run in 0..RUNS {
            let mut alts = clauses.prepare(order(run));
            let mut slots = [Some(0), Some(LIMIT)];
            let chosen = alts.run(&mut slots, Patience::Until(at_last()));
            let refused = Err(AltsError::TooManyWaiters { clause: 1 });
            holds_eq!(
                (chosen.map(|_| ()), slots),
                (refused, [Some(0), Some(LIMIT)]),
                "C7: an alts, one above the limit in its second clause, and its values"
            );
        }
        let polled = elsewhere.poll();
        holds_eq!(
            polled,
            Polled::WouldWait,
            "A1: a refused alts waits on in its first clause"
        );
    }
    if channels.blocks() && reports_deadlocks() {
        refused("a put that blocks", tx.put(LIMIT));
    }
}

/// They wait in the line of the puts.
fn reservations(channels: Channels) {
    let opened = channels.open::<usize>(Buffer::fixed(1));
    let (mut tx, mut rx) = opened.expect("a channel with room to reserve");
    for value in 0..=LIMIT {
        tx.put_then(value, |_| ());
    }
    let refused = |form: &str, answer: Option<ReserveError>| {
        holds_eq!(
            answer,
            Some(ReserveError::TooManyWaiters),
            "C7: {form}, one above the limit"
        );
    };
    if channels.awaits_room() {
        refused(
            "a reservation that is awaited",
            polled(tx.reserve_async()).err(),
        );
    }
    if channels.blocks_for_room() && reports_deadlocks() {
        refused("a reservation that blocks", tx.reserve().err());
    }
    holds_eq!(
        rx.poll(),
        Polled::Done(0),
        "C4: the first put was not first"
    );
    if channels.awaits() {
        let mut context = Context::from_waker(Waker::noop());
        let put = pin!(tx.put_async(LIMIT));
        holds_eq!(
            put.poll(&mut context),
            Poll::Pending,
            "C7: a put was refused below the limit"
        );
    }
}

/// The answer of a future that does not wait.
fn polled<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => violated!("C7: waiter {} was admitted", LIMIT + 1),
    }
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
        Offered::WouldWait(1),
        "C9: an abandoned take is served"
    );
}
