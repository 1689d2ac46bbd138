//! A2: no effect before the claim. core.async answers for a closed put port while an offer hands a value
//! to the same alts on another port: that value is lost.

use std::time::Duration;

use flowmeter_harness::channel::{Alts, Buffer, Chosen, Clause, Offered, Order, Patience, Polled};
use flowmeter_harness::sync::{Deadline, World};

use super::acts::{alts, close, having, is_closable, is_empty, offer, put};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a2-closed-port",
    statement: "An alts that answers for a closed port has taken nothing anywhere else.",
    relied_on_by: Reliance::Alts,
};

pub(super) const MIXED: Property = Property {
    name: "a2-closed-port-mixed",
    statement: "An alts of different types that answers for a closed port has taken nothing anywhere else.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const AWAITED: Property = Property {
    name: "a2-closed-port-async",
    statement: "An alts that is awaited and answers for a closed port has taken nothing anywhere else.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Alts, W: World>() -> Vec<Case> {
    let mut cases = closed_cases::<C, W>();
    cases.extend(closing_cases::<C, W>());
    cases
}

/// A port that is closed before, or while a put comes.
pub(super) fn closed_cases<C: Alts, W: World>() -> Vec<Case> {
    if !is_closable::<C>(Buffer::Rendezvous) {
        return Vec::new();
    }
    let mut cases = Vec::new();
    for order in [Order::Priority, Order::Random] {
        let name = format!("offer against a closed port, {order:?}");
        cases.push(Case::new(name, move || offer_race::<C, W>(order)));
        let name = format!("close against a put, {order:?}");
        cases.push(Case::new(name, move || close_race::<C, W>(order)));
    }
    cases
}

/// A port that closes while something comes at the other.
pub(super) fn closing_cases<C: Alts, W: World>() -> Vec<Case> {
    let mut cases = Vec::new();
    for order in [Order::Priority, Order::Random] {
        for buffer in [Buffer::Rendezvous, Buffer::fixed(1)] {
            if !can_be_closed_by_another::<C>(buffer) {
                continue;
            }
            for take_first in [true, false] {
                let clauses = if take_first {
                    "[take, put]"
                } else {
                    "[put, take]"
                };
                let what = format!("{clauses}, {buffer}, {order:?}");
                cases.push(Case::new(
                    format!("the put's port closes, and an offer, {what}"),
                    move || port_closes_at_an_offer::<C, W>(buffer, take_first, order),
                ));
                cases.push(Case::new(
                    format!("the put's port closes, and a put, {what}"),
                    move || port_closes_at_a_put::<C, W>(buffer, take_first, order),
                ));
            }
        }
    }
    cases
}

fn can_be_closed_by_another<C: Alts>(buffer: Buffer) -> bool {
    is_closable::<C>(buffer)
        && C::open::<u32>(buffer).is_some_and(|(tx, _rx)| C::another_tx(&tx).is_some())
}

/// For channels that are closed by dropping the other half.
pub(super) fn disconnected_cases<C: Alts>() -> Vec<Case> {
    having::<C>(&[Buffer::Rendezvous, Buffer::fixed(1), Buffer::Unbounded])
        .map(|buffer| {
            Case::new(format!("half gone, {buffer}"), move || {
                half_gone::<C>(buffer)
            })
        })
        .collect()
}

/// A port whose other half is gone is able, and its value comes back.
fn half_gone<C: Alts>(buffer: Buffer) {
    let (tx, rx) = C::open::<u32>(buffer).expect("asked before");
    let (gone_tx, orphan_rx) = C::open::<u32>(buffer).expect("asked before");
    drop((gone_tx, rx));
    let clauses = [Clause::Take(&orphan_rx)];
    let mut alts = C::prepare(&clauses, Order::Priority);
    let chosen = C::run(&mut alts, &mut [None], Patience::Forever);
    holds_eq!(
        chosen,
        Ok(Chosen::Took {
            clause: 0,
            value: None
        }),
        "A1: a take without producers"
    );
    let clauses = [Clause::Put(&tx)];
    let mut slots = [Some(3)];
    let chosen = C::run(
        &mut C::prepare(&clauses, Order::Random),
        &mut slots,
        Patience::Now,
    );
    holds_eq!(
        chosen,
        Ok(Chosen::Put {
            clause: 0,
            accepted: false
        }),
        "A1: a put without consumers"
    );
    holds_eq!(
        slots,
        [Some(3)],
        "C1: a put on a closed channel keeps its value"
    );
}

fn offer_race<C: Alts, W: World>(order: Order) {
    let (mut tx, rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let (closed, _keep) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    C::close(&closed);
    let offering = W::spawn(move || {
        let offered = offer::<C, W, _>(&mut tx, 1);
        (tx, offered)
    });
    let mut slots = [None, Some(2)];
    let clauses = [Clause::Take(&rx), Clause::Put(&closed)];
    let chosen = alts::<C, W, _>(&clauses, order, &mut slots, Patience::Forever);
    let (_tx, offered) = W::join(offering);
    holds_eq!(
        slots,
        [None, Some(2)],
        "A1: the put did not happen, and its value did not come back"
    );
    match (chosen, offered) {
        (
            Ok(Chosen::Took {
                clause: 0,
                value: Some(1),
            }),
            Offered::Done,
        )
        | (
            Ok(Chosen::Put {
                clause: 1,
                accepted: false,
            }),
            Offered::WouldWait(1),
        ) => {}
        (chosen, offered) => {
            violated!(
                "A2: the alts answered {chosen:?} while the offer on its open port answered {offered:?}"
            )
        }
    }
}

/// One port is closed while a put arrives at the other.
fn close_race<C: Alts, W: World>(order: Order) {
    let (mut tx, mut rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let (closing, rx_closing) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let closer = W::spawn(move || close::<C, W, _>(&closing));
    let putter = W::spawn(move || {
        put::<C, W, _>(&mut tx, 1);
        tx
    });
    let clauses = [Clause::Take(&rx_closing), Clause::Take(&rx)];
    let chosen = alts::<C, W, _>(&clauses, order, &mut [None, None], Patience::Forever);
    match chosen {
        Ok(Chosen::Took {
            clause: 1,
            value: Some(1),
        }) => {
            is_empty::<C, _>(&mut rx, "A1: a value appeared twice");
        }
        Ok(Chosen::Took {
            clause: 0,
            value: None,
        }) => {
            holds_eq!(
                C::take(&mut rx),
                Ok(1),
                "A2: a value was lost to a port that was closed"
            );
        }
        other => violated!("A2: the alts answered {other:?}"),
    }
    assert!(W::join(closer));
    drop(W::join(putter));
}

/// What the put clause of [`closing_port`] holds.
const HELD: u32 = 2;

/// A channel without room for a put.
fn without_room<C: Alts>(buffer: Buffer) -> (C::Tx<u32>, C::Rx<u32>) {
    let (mut tx, rx) = C::open::<u32>(buffer).expect("asked before");
    if buffer != Buffer::Rendezvous {
        assert_eq!(C::offer(&mut tx, 0), Offered::Done);
    }
    (tx, rx)
}

/// Which of the two clauses won.
#[derive(Debug, PartialEq, Eq)]
enum Winner {
    /// The take of the open channel, with the value 1.
    Take,
    /// The put's closed port.
    ClosedPort,
    Nobody,
}

/// An alts over a take of `rx` and a put to `tx`, a channel without room that another thread closes. The
/// value of the put is given back in every case.
fn closing_port<C: Alts, W: World>(
    rx: &C::Rx<u32>,
    tx: &C::Tx<u32>,
    take_first: bool,
    order: Order,
    patience: Patience,
) -> Winner {
    let take = usize::from(!take_first);
    let put = 1 - take;
    let mut clauses = [Clause::Take(rx), Clause::Put(tx)];
    let mut slots = [None, Some(HELD)];
    if !take_first {
        clauses.reverse();
        slots.reverse();
    }
    let chosen = alts::<C, W, _>(&clauses, order, &mut slots, patience);
    holds_eq!(
        (slots[take], slots[put]),
        (None, Some(HELD)),
        "A1: the put did not happen, and its value did not come back"
    );
    match chosen {
        Ok(Chosen::Took { clause, value }) if (clause, value) == (take, Some(1)) => Winner::Take,
        Ok(Chosen::Put {
            clause,
            accepted: false,
        }) if clause == put => Winner::ClosedPort,
        Ok(Chosen::TimedOut) => Winner::Nobody,
        other => violated!("A2: the alts answered {other:?}"),
    }
}

/// Nothing of the alts is left in the channel that was closed.
fn is_left_alone<C: Alts>(mut rx: C::Rx<u32>) {
    while let Polled::Done(value) = C::poll(&mut rx) {
        holds!(value != HELD, "A1: a clause that lost took effect later");
    }
}

/// A put's port is closed while the alts may wait already, and an offer comes to the open one.
fn port_closes_at_an_offer<C: Alts, W: World>(buffer: Buffer, take_first: bool, order: Order) {
    let (mut tx, mut rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let (closing, rx_closing) = without_room::<C>(buffer);
    let further = C::another_tx(&closing).expect("asked before");
    let closer = W::spawn(move || close::<C, W, _>(&further));
    let offering = W::spawn(move || (offer::<C, W, _>(&mut tx, 1), tx));
    // A put that waits at a close waits on, so that perhaps nobody comes.
    let deadline = Deadline::after(W::now_nanos(), Duration::from_micros(50));
    let until = Patience::Until(deadline);
    let winner = closing_port::<C, W>(&rx, &closing, take_first, order, until);
    assert!(W::join(closer));
    let (offered, _tx) = W::join(offering);
    let expected = if winner == Winner::Take {
        Offered::Done
    } else {
        Offered::WouldWait(1)
    };
    holds_eq!(
        offered,
        expected,
        "A2: what the offer was told, where the alts was won by {winner:?}"
    );
    is_empty::<C, _>(&mut rx, "A1: a value appeared twice");
    is_left_alone::<C>(rx_closing);
}

/// As [`port_closes_at_an_offer`], with a put, which waits until it is taken.
fn port_closes_at_a_put<C: Alts, W: World>(buffer: Buffer, take_first: bool, order: Order) {
    let (mut tx, mut rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let (closing, rx_closing) = without_room::<C>(buffer);
    let further = C::another_tx(&closing).expect("asked before");
    let closer = W::spawn(move || close::<C, W, _>(&further));
    let putter = W::spawn(move || {
        put::<C, W, _>(&mut tx, 1);
        tx
    });
    let winner = closing_port::<C, W>(&rx, &closing, take_first, order, Patience::Forever);
    if winner != Winner::Take {
        holds_eq!(
            C::take(&mut rx),
            Ok(1),
            "A2: a value was lost to a port that was closed"
        );
    }
    assert!(W::join(closer));
    let _tx = W::join(putter);
    is_empty::<C, _>(&mut rx, "A1: a value appeared twice");
    is_left_alone::<C>(rx_closing);
}
