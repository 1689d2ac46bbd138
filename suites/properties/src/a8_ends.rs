//! A8 with A1, C6, C14, B1 and B2: what ends or answers all that wait in a channel at once meets an alts among them that
//! another channel has served. The alts is over, and has not left yet. It keeps its value, and those behind it are
//! answered.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! rendezvous
//! alts [put a 3, take b], polled: pending
//! offer(b, 5) -> done
//! the consumer of a is dropped
//! the alts answers (b, 5), and the 3 is gone
//!
//! promise
//! take polled; alts [take a, take b], polled; take polled
//! offer(b, 5) -> done, offer(a, 7) -> done
//! the second take is not woken
//! ```

use std::fmt::{self, Display};
use std::future::pending;
use std::task::Poll;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Offered, Order, Polled, PutError, TakeError, Winner};

use super::bell::Waits;
use super::scripted::{Log, Script, Scripted, unasked};
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::channels::operations::{Mixture, Port, Won};
use crate::design::{Channels, Parcel, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "a8-ends",
    statement: "A close, a promise, the last consumer and a transform's end pass over an alts served elsewhere, and answer all behind it.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(cases),
};

/// What all that wait in a channel are told by.
#[derive(Clone, Copy)]
enum End {
    /// Takes, by the close.
    Closed,
    /// Takes, by the value of a promise.
    Kept,
    /// Puts, by the drop of the last consumer.
    Deserted,
    /// Puts, by a transform that takes no more.
    Transformed,
}

impl Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            End::Closed => "a close",
            End::Kept => "the value of a promise",
            End::Deserted => "the last consumer",
            End::Transformed => "the end of a transform",
        })
    }
}

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    if !channels.awaits_mixes() || !channels.awaits() {
        return Vec::new();
    }
    let owed = [
        (End::Closed, channels.is_closable(Buffer::fixed(1))),
        (End::Kept, channels.promises()),
        (End::Deserted, design.claims(Claim::Disconnect)),
        (End::Transformed, channels.transforms()),
    ];
    let owed = owed.into_iter().filter(|(_, is_owed)| *is_owed);
    let case = |(end, _)| {
        Case::new(format!("{end}"), move || match end {
            End::Closed | End::Kept => takes(channels, end),
            End::Deserted | End::Transformed => puts(channels, end),
        })
    };
    let mut cases: Vec<_> = owed.map(case).collect();
    if design.claims(Claim::Disconnect) {
        let name = "an alts that is refused, and dropped unheard";
        cases.push(Case::new(name, move || dropped_unheard(channels)));
    }
    if channels.transforms() {
        let name = "what a transform emits";
        cases.push(Case::new(name, move || emitted(channels)));
    }
    cases
}

/// Its answer, once it was woken.
fn answer<T>(mut waits: Waits<'_, T>) -> T {
    holds!(
        waits.is_woken(),
        "C3: what waits behind an alts that is over was not woken"
    );
    match waits.poll() {
        Poll::Ready(answer) => answer,
        Poll::Pending => violated!("C3: what waits behind an alts that is over waits on"),
    }
}

fn another<T: Send + 'static>(tx: &Tx<T>) -> Tx<T> {
    tx.another().expect("a channel of alts has many producers")
}

fn another_rx<T: Send + 'static>(rx: &Rx<T>) -> Rx<T> {
    rx.another().expect("a channel of alts has many consumers")
}

/// The channel that serves the alts.
fn elsewhere(channels: Channels) -> (Tx<u32>, Rx<u32>) {
    let opened = channels.open(Buffer::fixed(1));
    opened.expect("a family with alts has such a buffer")
}

/// That port, and one that is served.
fn clauses<'a>(port: Port<'a>, value: Option<u32>, served: &'a Rx<u32>) -> Box<dyn Mixture + 'a> {
    let table = served.channels().tables().awaits_mixes;
    let mut slots = [value.map(Parcel::of), None];
    table
        .expect("asked before")
        .clauses(&[port, Port::Take(&served.half)], &mut slots)
}

/// The alts waits.
fn begin(clauses: &mut dyn Mixture) -> Waits<'_, Won> {
    Waits::begin(clauses.run_async(Order::Priority, Box::pin(pending())))
}

/// The alts is answered by the other channel, and its first clause has this value left.
fn lost(winner: Won, clauses: &mut dyn Mixture) -> Option<u32> {
    let taken = clauses.taken(1).flatten().map(Parcel::open);
    holds_eq!(
        (winner, taken),
        (Ok(Winner::Clause(1)), Some(SERVED)),
        "A1: one clause was served, and another answers"
    );
    clauses.left(0).map(Parcel::open)
}

const SERVED: u32 = 5;

fn takes(channels: Channels, end: End) {
    let (mut tx, rx) = match end {
        End::Kept => channels.open_promise::<u32>(),
        _ => channels
            .open::<u32>(Buffer::fixed(1))
            .expect("asked before"),
    };
    let [mut before, mut behind] = [(); 2].map(|()| another_rx(&rx));
    let (mut serves, served) = elsewhere(channels);
    let mut clauses = clauses(Port::Take(&rx.half), None, &served);
    let before = Waits::begin(before.take_async());
    let alts = begin(&mut *clauses);
    let behind = Waits::begin(behind.take_async());
    assert_eq!(serves.offer(SERVED), Offered::Done, "the alts waits");
    match end {
        End::Kept => assert_eq!(tx.offer(7), Offered::Done),
        _ => assert!(tx.close(), "asked before"),
    }
    let answers = [answer(before), answer(behind)];
    let winner = answer(alts);
    lost(winner, &mut *clauses);
    let answer = match end {
        End::Kept => Ok(7),
        _ => Err(TakeError::Closed),
    };
    holds_eq!(
        answers,
        [answer; 2],
        "C3: takes beside an alts that is over"
    );
}

fn puts(channels: Channels, end: End) {
    let (tx, rx) = match end {
        End::Transformed => {
            let script = Script {
                ends_after: 2,
                ..Script::PLAIN
            };
            let transform = Scripted::new(script, &Log::default());
            let opened = channels.open_transformed(Buffer::fixed(1), transform, unasked);
            opened.unwrap_or_else(|why| violated!("B2: no channel with room for one: {why}"))
        }
        _ => channels
            .open::<u32>(Buffer::fixed(1))
            .expect("a family with alts has such a buffer"),
    };
    let [mut full, mut before, mut behind] = [(); 3].map(|()| another(&tx));
    assert_eq!(full.offer(1), Offered::Done, "there is room");
    let mut rx = Some(rx);
    let (mut serves, served) = elsewhere(channels);
    let mut clauses = clauses(Port::Put(&tx.half), Some(3), &served);
    let before = Waits::begin(before.put_async(2));
    let alts = begin(&mut *clauses);
    let behind = Waits::begin(behind.put_async(4));
    assert_eq!(serves.offer(SERVED), Offered::Done, "the alts waits");
    match end {
        End::Transformed => {
            let taken = rx.as_mut().map(Rx::poll);
            assert_eq!(taken, Some(Polled::Done(10)), "it is stored");
        }
        _ => drop(rx.take()),
    }
    let answers = [answer(before), answer(behind)];
    let winner = answer(alts);
    let refused = |value| Err(PutError::Closed(Some(value)));
    let expected = match end {
        // The value of the last one is dropped.
        End::Transformed => [Ok(()), Ok(())],
        _ => [refused(2), refused(4)],
    };
    holds_eq!(answers, expected, "C14: puts beside an alts that is over");
    holds_eq!(
        lost(winner, &mut *clauses),
        Some(3),
        "A1: a losing clause's value did not come back"
    );
}

/// The end refuses the put of the alts itself, which is dropped before it hears of that.
fn dropped_unheard(channels: Channels) {
    let (tx, rx) = elsewhere(channels);
    assert_eq!(another(&tx).offer(1), Offered::Done, "there is room");
    let (_serves, served) = elsewhere(channels);
    let mut clauses = clauses(Port::Put(&tx.half), Some(3), &served);
    let alts = begin(&mut *clauses);
    drop(rx);
    drop(alts);
    let left: Option<u32> = clauses.left(0).map(Parcel::open);
    holds_eq!(
        left,
        Some(3),
        "A1: the value of a put that was refused, and dropped unheard, did not come back"
    );
}

/// A transform emits two values while an alts that is over is the only one in line. They stay in their order.
fn emitted(channels: Channels) {
    let script = Script {
        times: 2,
        ..Script::PLAIN
    };
    let transform = Scripted::new(script, &Log::default());
    let opened = channels.open_transformed(Buffer::fixed(2), transform, unasked);
    let (mut tx, rx) =
        opened.unwrap_or_else(|why| violated!("B2: no channel with room for two: {why}"));
    let mut taker = another_rx(&rx);
    let (mut serves, served) = elsewhere(channels);
    let mut clauses = clauses(Port::Take(&rx.half), None, &served);
    let alts = begin(&mut *clauses);
    assert_eq!(serves.offer(SERVED), Offered::Done, "the alts waits");
    assert_eq!(tx.offer(1), Offered::Done, "there is room");
    let taken = [(); 2].map(|()| taker.poll());
    holds_eq!(
        taken,
        [10, 11].map(Polled::Done),
        "C2: what a transform emits beside an alts that is over"
    );
    let winner = answer(alts);
    lost(winner, &mut *clauses);
}
