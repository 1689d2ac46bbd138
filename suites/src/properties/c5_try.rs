//! C5: `offer` and `poll` never wait, leave no waiter behind, and give three answers each.

use flowmeter_harness::channel::{Blocking, Buffer, Channels, Offered, Polled};
use flowmeter_harness::sync::World;

use super::acts::{fill, having, is_closable, offer, put, room, take};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "c5-try",
    statement: "offer and poll answer done, would wait, or closed, never wait, leave nothing behind, and tell of all that came before.",
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
    for buffer in having::<C>(&[one, two, Buffer::Unbounded]) {
        let named = |what: &str| format!("{what}, {buffer}");
        let (tx, rx) = C::open::<u32>(buffer).expect("asked before");
        cases.push(Case::new(
            named("a value tells of what came before it"),
            move || a_value_tells::<C, W>(buffer),
        ));
        if C::another_rx(&rx).is_some() {
            cases.push(Case::new(
                named("empty tells of what came before it"),
                move || empty_tells::<C, W>(buffer),
            ));
        }
        if buffer == Buffer::Unbounded {
            continue;
        }
        cases.push(Case::new(
            named("room tells of what came before it"),
            move || room_tells::<C, W>(buffer),
        ));
        if C::another_tx(&tx).is_some() {
            cases.push(Case::new(
                named("full tells of what came before it"),
                move || full_tells::<C, W>(buffer),
            ));
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

/// One thread puts to a channel and then to another; who finds the later value finds the earlier one.
fn a_value_tells<C: Blocking, W: World>(buffer: Buffer) {
    let (mut tx_before, mut rx_before) = C::open::<u32>(buffer).expect("asked before");
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let acting = W::spawn(move || {
        put::<C, W, _>(&mut tx_before, 1);
        put::<C, W, _>(&mut tx, 2);
        (tx_before, tx)
    });
    W::perturb();
    if C::poll(&mut rx) == Polled::Done(2) {
        holds_eq!(
            C::poll(&mut rx_before),
            Polled::Done(1),
            "C5: a value was found, and not the one that was put before it"
        );
    }
    W::join(acting);
}

/// One thread puts to a channel and then to another; who finds the other full finds the earlier value.
fn full_tells<C: Blocking, W: World>(buffer: Buffer) {
    let (mut tx_before, mut rx_before) = C::open::<u32>(buffer).expect("asked before");
    let (mut tx, _rx) = C::open::<u32>(buffer).expect("asked before");
    let mut other = C::another_tx(&tx).expect("asked before");
    for value in 1..room(buffer) {
        assert_eq!(C::offer(&mut tx, value as u32), Offered::Done);
    }
    let acting = W::spawn(move || {
        put::<C, W, _>(&mut tx_before, 1);
        // Refused where the other thread came first.
        let _ = C::offer(&mut tx, 2);
        (tx_before, tx)
    });
    W::perturb();
    if C::offer(&mut other, 3) == Offered::WouldWait(3) {
        holds_eq!(
            C::poll(&mut rx_before),
            Polled::Done(1),
            "C5: a channel was full, and what was put before it was filled was not found"
        );
    }
    W::join(acting);
}

/// One thread takes from a full channel and then from another; who finds room in the other finds the earlier room.
fn room_tells<C: Blocking, W: World>(buffer: Buffer) {
    let (mut tx_before, mut rx_before) = C::open::<u32>(buffer).expect("asked before");
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    for tx in [&mut tx_before, &mut tx] {
        fill::<C>(tx, buffer);
    }
    let acting = W::spawn(move || {
        take::<C, W, _>(&mut rx_before);
        take::<C, W, _>(&mut rx);
        (rx_before, rx)
    });
    W::perturb();
    if C::offer(&mut tx, 9) == Offered::Done {
        holds_eq!(
            C::offer(&mut tx_before, 9),
            Offered::Done,
            "C5: there was room, and none where a take had made it before"
        );
    }
    W::join(acting);
}

/// One thread puts to a channel and then empties another; who finds that one empty finds the value.
fn empty_tells<C: Blocking, W: World>(buffer: Buffer) {
    let (mut tx_before, mut rx_before) = C::open::<u32>(buffer).expect("asked before");
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let mut other = C::another_rx(&rx).expect("asked before");
    assert_eq!(C::offer(&mut tx, 1), Offered::Done);
    let acting = W::spawn(move || {
        put::<C, W, _>(&mut tx_before, 2);
        // Nothing is left where the other thread came first.
        let _ = C::poll(&mut rx);
        (tx_before, rx)
    });
    W::perturb();
    if C::poll(&mut other) == Polled::WouldWait {
        holds_eq!(
            C::poll(&mut rx_before),
            Polled::Done(2),
            "C5: a channel was empty, and what was put before it was emptied was not found"
        );
    }
    W::join(acting);
}
