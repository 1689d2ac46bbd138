//! C5: `offer` and `poll` never wait, leave no waiter behind, and have three answers each.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! thread 1, rendezvous          thread 2
//! poll -> would wait
//! offer 1 -> done               the poll has left a waiter behind
//!
//! put(a, 1) -> true             put(b, 1) -> true
//! poll b -> would wait          poll a -> would wait
//! the later of the two polled after both puts
//!
//! put(a, 1) -> true
//! put(b, 2) -> true
//!                               poll b -> 2
//!                               poll a -> would wait: the 1 was put before the 2
//! ```

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Offered, Polled};
use flowmeter_harness::sync::world;

use super::acts::{fill, offer, put, room, take};
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "c5-try",
    statement: "offer and poll return done, would wait, or closed. They never wait, leave nothing behind, and see all earlier effects.",
    relied_on_by: Reliance::All,
    cases: Cases::Channels(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let channels = design.channels;
    let keeps_buffered = design.claims(Claim::KeepsBuffered);
    let mut cases = Vec::new();
    if channels.open::<u32>(Buffer::Rendezvous).is_some() {
        cases.push(Case::new("rendezvous", move || {
            alone_on_a_rendezvous(channels)
        }));
    }
    for buffer in [
        Buffer::Rendezvous,
        Buffer::fixed(1),
        Buffer::fixed(2),
        Buffer::Unbounded,
    ] {
        if channels.is_closable(buffer) {
            cases.push(Case::new(format!("closed, {buffer}"), move || {
                closed(channels, buffer, keeps_buffered)
            }));
        }
    }
    if channels.blocks() {
        cases.extend(blocking_cases(channels));
    }
    cases
}

/// Cases with a second thread.
fn blocking_cases(channels: Channels) -> Vec<Case> {
    let (one, two) = (Buffer::fixed(1), Buffer::fixed(2));
    let mut cases: Vec<Case> = channels
        .having(&[Buffer::Rendezvous, one, two])
        .map(|buffer| {
            Case::new(format!("a taker, {buffer}"), move || {
                an_offer_meets_a_take(channels, buffer)
            })
        })
        .collect();
    for buffer in channels.having(&[one, two, Buffer::Unbounded]) {
        let name = format!("each polls for the other's value, {buffer}");
        cases.push(Case::new(name, move || each_polls(channels, buffer)));
        if buffer != Buffer::Unbounded {
            let name = format!("each offers into the other's room, {buffer}");
            cases.push(Case::new(name, move || each_offers(channels, buffer)));
        }
    }
    for buffer in channels.having(&[one, two, Buffer::Unbounded]) {
        let named = |what: &str| format!("{what}, {buffer}");
        let (tx, rx) = channels.open::<u32>(buffer).expect("asked before");
        cases.push(Case::new(
            named("a value tells of what came before it"),
            move || a_value_tells(channels, buffer),
        ));
        if rx.another().is_some() {
            cases.push(Case::new(
                named("empty tells of what came before it"),
                move || empty_tells(channels, buffer),
            ));
        }
        if buffer == Buffer::Unbounded {
            continue;
        }
        cases.push(Case::new(
            named("room tells of what came before it"),
            move || room_tells(channels, buffer),
        ));
        if tx.another().is_some() {
            cases.push(Case::new(
                named("full tells of what came before it"),
                move || full_tells(channels, buffer),
            ));
        }
    }
    cases
}

fn alone_on_a_rendezvous(channels: Channels) {
    let (mut tx, mut rx) = channels
        .open::<u32>(Buffer::Rendezvous)
        .expect("asked before");
    holds_eq!(
        tx.offer(1),
        Offered::WouldWait(1),
        "C5: an offer without a taker"
    );
    holds_eq!(
        rx.poll(),
        Polled::WouldWait,
        "C5: an offer that was refused left its value"
    );
    holds_eq!(
        tx.offer(2),
        Offered::WouldWait(2),
        "C5: a poll that was refused left a waiter"
    );
}

fn closed(channels: Channels, buffer: Buffer, keeps_buffered: bool) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let kept = tx.offer(1) == Offered::Done;
    tx.close();
    tx.close();
    holds_eq!(
        tx.offer(2),
        Offered::Closed(2),
        "C5: an offer to a closed channel"
    );
    if kept && keeps_buffered {
        holds_eq!(
            rx.poll(),
            Polled::Done(1),
            "C6: a stored value did not survive the close"
        );
    }
    holds_eq!(rx.poll(), Polled::Closed, "C5: a poll of a closed channel");
}

fn an_offer_meets_a_take(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let taker = world::spawn(move || take(&mut rx));
    // The offer may come too early; then the put lets the taker end.
    if let Offered::WouldWait(value) = offer(&mut tx, 7) {
        put(&mut tx, value);
    }
    holds_eq!(world::join(taker), 7, "C2: the take got something else");
}

/// Each of two threads puts to its own channel and polls the other's. The thread that polls later polls after both
/// puts.
fn each_polls(channels: Channels, buffer: Buffer) {
    let (tx_here, rx_here) = channels.open::<u32>(buffer).expect("asked before");
    let (tx_there, rx_there) = channels.open::<u32>(buffer).expect("asked before");
    let look = |mut tx: Tx<u32>, mut rx: Rx<u32>| {
        put(&mut tx, 1);
        world::perturb();
        (rx.poll(), tx, rx)
    };
    let other = world::spawn(move || look(tx_there, rx_here));
    let here = look(tx_here, rx_there);
    let there = world::join(other);
    holds!(
        [&here.0, &there.0].contains(&&Polled::Done(1)),
        "C5: each of two threads put before it polled, and neither found the other's value"
    );
}

/// Each of two threads takes from its own full channel and offers to the other's. The thread that offers later offers
/// after both takes.
fn each_offers(channels: Channels, buffer: Buffer) {
    let (mut tx_here, rx_here) = channels.open::<u32>(buffer).expect("asked before");
    let (mut tx_there, rx_there) = channels.open::<u32>(buffer).expect("asked before");
    for tx in [&mut tx_here, &mut tx_there] {
        fill(tx, buffer);
    }
    let look = |mut tx: Tx<u32>, mut rx: Rx<u32>| {
        take(&mut rx);
        (offer(&mut tx, 9), tx, rx)
    };
    let other = world::spawn(move || look(tx_there, rx_here));
    let here = look(tx_here, rx_there);
    let there = world::join(other);
    holds!(
        [&here.0, &there.0].contains(&&Offered::Done),
        "C5: each of two threads took before it offered, and neither found the other's room"
    );
}

/// One thread puts to a channel and then to another. A poll that finds the later value must find the earlier one.
fn a_value_tells(channels: Channels, buffer: Buffer) {
    let (mut tx_before, mut rx_before) = channels.open::<u32>(buffer).expect("asked before");
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let acting = world::spawn(move || {
        put(&mut tx_before, 1);
        put(&mut tx, 2);
        (tx_before, tx)
    });
    world::perturb();
    if rx.poll() == Polled::Done(2) {
        holds_eq!(
            rx_before.poll(),
            Polled::Done(1),
            "C5: a value was found, and not the one that was put before it"
        );
    }
    world::join(acting);
}

/// One thread puts to a channel and then fills another. An offer that finds the other full must find the earlier
/// value.
fn full_tells(channels: Channels, buffer: Buffer) {
    let (mut tx_before, mut rx_before) = channels.open::<u32>(buffer).expect("asked before");
    let (mut tx, _rx) = channels.open::<u32>(buffer).expect("asked before");
    let mut other = tx.another().expect("asked before");
    for value in 1..room(buffer) {
        assert_eq!(tx.offer(value as u32), Offered::Done);
    }
    let acting = world::spawn(move || {
        put(&mut tx_before, 1);
        // Refused where the other thread's offer came first.
        let _ = tx.offer(2);
        (tx_before, tx)
    });
    world::perturb();
    if other.offer(3) == Offered::WouldWait(3) {
        holds_eq!(
            rx_before.poll(),
            Polled::Done(1),
            "C5: a channel was full, and what was put before it was filled was not found"
        );
    }
    world::join(acting);
}

/// One thread takes from a full channel and then from another. An offer that finds the later room must find the
/// earlier one.
fn room_tells(channels: Channels, buffer: Buffer) {
    let (mut tx_before, mut rx_before) = channels.open::<u32>(buffer).expect("asked before");
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    for tx in [&mut tx_before, &mut tx] {
        fill(tx, buffer);
    }
    let acting = world::spawn(move || {
        take(&mut rx_before);
        take(&mut rx);
        (rx_before, rx)
    });
    world::perturb();
    if tx.offer(9) == Offered::Done {
        holds_eq!(
            tx_before.offer(9),
            Offered::Done,
            "C5: there was room, and none where a take had made it before"
        );
    }
    world::join(acting);
}

/// One thread puts to a channel and then empties another. A poll that finds the other empty must find the value.
fn empty_tells(channels: Channels, buffer: Buffer) {
    let (mut tx_before, mut rx_before) = channels.open::<u32>(buffer).expect("asked before");
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let mut other = rx.another().expect("asked before");
    assert_eq!(tx.offer(1), Offered::Done);
    let acting = world::spawn(move || {
        put(&mut tx_before, 2);
        // Nothing is left where the other thread's poll came first.
        let _ = rx.poll();
        (tx_before, rx)
    });
    world::perturb();
    if other.poll() == Polled::WouldWait {
        holds_eq!(
            rx_before.poll(),
            Polled::Done(2),
            "C5: a channel was empty, and what was put before it was emptied was not found"
        );
    }
    world::join(acting);
}
