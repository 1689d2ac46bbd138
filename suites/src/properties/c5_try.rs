//! C5: `offer` and `poll` never wait, leave no waiter behind, and give three answers each.

use flowmeter_harness::channel::{Blocking, Buffer, Channels, Offered, Polled};
use flowmeter_harness::sync::World;

use super::acts::{fill, having, is_closable, offer, put, take};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c5-try",
    statement: "offer and poll answer done, would wait, or closed, never wait, and leave nothing behind.",
    relied_on_by: Reliance::Everybody,
};

/// `keeps_buffered`: whether values in the buffer are promised to survive a close.
pub(super) fn cases<C: Channels>(keeps_buffered: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    if C::open::<u32>(Buffer::Rendezvous).is_some() {
        cases.push(Case::new("rendezvous", alone_on_a_rendezvous::<C>));
    }
    for buffer in [
        Buffer::Rendezvous,
        Buffer::fixed(1),
        Buffer::fixed(2),
        Buffer::Unbounded,
    ] {
        if is_closable::<C>(buffer) {
            cases.push(Case::new(format!("closed, {buffer}"), move || {
                closed::<C>(buffer, keeps_buffered)
            }));
        }
    }
    cases
}

/// Cases with a second thread.
pub(super) fn blocking_cases<C: Blocking, W: World>() -> Vec<Case> {
    let (one, two) = (Buffer::fixed(1), Buffer::fixed(2));
    let mut cases: Vec<Case> = having::<C>(&[Buffer::Rendezvous, one, two])
        .map(|buffer| {
            Case::new(format!("a taker, {buffer}"), move || {
                an_offer_meets_a_take::<C, W>(buffer)
            })
        })
        .collect();
    for buffer in having::<C>(&[one, two, Buffer::Unbounded]) {
        let name = format!("each polls for the other's value, {buffer}");
        cases.push(Case::new(name, move || each_polls::<C, W>(buffer)));
        if buffer != Buffer::Unbounded {
            let name = format!("each offers into the other's room, {buffer}");
            cases.push(Case::new(name, move || each_offers::<C, W>(buffer)));
        }
    }
    cases
}

fn alone_on_a_rendezvous<C: Channels>() {
    let (mut tx, mut rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    holds_eq!(
        C::offer(&mut tx, 1),
        Offered::WouldWait(1),
        "C5: an offer without a taker"
    );
    holds_eq!(
        C::poll(&mut rx),
        Polled::WouldWait,
        "C5: an offer that was refused left its value"
    );
    holds_eq!(
        C::offer(&mut tx, 2),
        Offered::WouldWait(2),
        "C5: a poll that was refused left a waiter"
    );
}

fn closed<C: Channels>(buffer: Buffer, keeps_buffered: bool) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let kept = C::offer(&mut tx, 1) == Offered::Done;
    C::close(&tx);
    C::close(&tx);
    holds_eq!(
        C::offer(&mut tx, 2),
        Offered::Closed(2),
        "C5: an offer to a closed channel"
    );
    if kept && keeps_buffered {
        holds_eq!(
            C::poll(&mut rx),
            Polled::Done(1),
            "C6: a stored value did not survive the close"
        );
    }
    holds_eq!(
        C::poll(&mut rx),
        Polled::Closed,
        "C5: a poll of a closed channel"
    );
}

fn an_offer_meets_a_take<C: Blocking, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let taker = W::spawn(move || take::<C, W, _>(&mut rx));
    // Without waiting it may come too early; the put then makes sure that the taker ends.
    if let Offered::WouldWait(value) = offer::<C, W, _>(&mut tx, 7) {
        put::<C, W, _>(&mut tx, value);
    }
    holds_eq!(W::join(taker), 7, "C2: the take got something else");
}

/// Two threads put, each to its channel, and poll the other's: whoever polls later comes after both puts.
fn each_polls<C: Blocking, W: World>(buffer: Buffer) {
    let (tx_here, rx_here) = C::open::<u32>(buffer).expect("asked before");
    let (tx_there, rx_there) = C::open::<u32>(buffer).expect("asked before");
    let look = |mut tx: C::Tx<u32>, mut rx: C::Rx<u32>| {
        put::<C, W, _>(&mut tx, 1);
        W::perturb();
        (C::poll(&mut rx), tx, rx)
    };
    let other = W::spawn(move || look(tx_there, rx_here));
    let here = look(tx_here, rx_there);
    let there = W::join(other);
    holds!(
        [&here.0, &there.0].contains(&&Polled::Done(1)),
        "C5: each of two threads put before it polled, and neither found the other's value"
    );
}

/// Two threads take, each from its full channel, and offer to the other's: whoever offers later comes after both takes.
fn each_offers<C: Blocking, W: World>(buffer: Buffer) {
    let (mut tx_here, rx_here) = C::open::<u32>(buffer).expect("asked before");
    let (mut tx_there, rx_there) = C::open::<u32>(buffer).expect("asked before");
    for tx in [&mut tx_here, &mut tx_there] {
        fill::<C>(tx, buffer);
    }
    let look = |mut tx: C::Tx<u32>, mut rx: C::Rx<u32>| {
        take::<C, W, _>(&mut rx);
        (offer::<C, W, _>(&mut tx, 9), tx, rx)
    };
    let other = W::spawn(move || look(tx_there, rx_here));
    let here = look(tx_here, rx_there);
    let there = W::join(other);
    holds!(
        [&here.0, &there.0].contains(&&Offered::Done),
        "C5: each of two threads took before it offered, and neither found the other's room"
    );
}
