//! A2: an alts has no effect before it has claimed one clause. core.async answers for a closed put port while an
//! offer hands a value to the same alts on another port: that value is lost.
//!
//! The smallest history that violates it:
//!
//! ```text
//! alts [take a, put b 2], b is closed    producer of a
//! queues its take in a
//!                                        offer(a, 1) -> done
//! answers (b, false)
//! the 1 is lost: a accepted it, and no take returns it
//! ```

use std::time::Duration;

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Chosen, Offered, Order, Patience, Polled};
use flowmeter_harness::sync::{Deadline, world};

use super::acts::{alts, close, fill, is_empty, offer, put};
use super::mixed::in_turns;
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Clause, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "a2-closed-port",
    statement: "An alts that reports a closed port has taken no value from any other port.",
    relied_on_by: Reliance::Alts,
    cases: Cases::Channels(|design| {
        let Some(channels) = design.alts() else {
            return Vec::new();
        };
        let mut all = Vec::new();
        if design.claims(Claim::Disconnect) {
            all.extend(disconnected_cases(channels));
        }
        all.extend(cases(design, channels));
        all
    }),
};

pub(super) const MIXED: Property = Property {
    name: "a2-closed-port-mixed",
    statement: "An alts of different types that reports a closed port has taken no value from any other port.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| {
        in_turns(design.channels.mixed(), |channels| cases(design, channels))
    }),
};

pub(super) const AWAITED: Property = Property {
    name: "a2-closed-port-async",
    statement: "An awaited alts that reports a closed port has taken no value from any other port.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| {
        in_turns(design.channels.mixed_and_awaited(), |channels| {
            awaited_cases(design, channels)
        })
    }),
};

fn cases(design: &Design, channels: Channels) -> Vec<Case> {
    let mut cases = closed_cases(channels);
    cases.extend(closing_cases(channels));
    // Loom has no room for more.
    if design.claims(Claim::Disconnect) && world::name() != "loom" {
        cases.extend(leaving_cases(channels));
    }
    cases
}

/// Awaited, the closing cases have more steps than loom exhausts.
fn awaited_cases(design: &Design, channels: Channels) -> Vec<Case> {
    match world::name() {
        "loom" => closed_cases(channels),
        _ => cases(design, channels),
    }
}

/// A port that is closed before the alts, or while a put arrives.
fn closed_cases(channels: Channels) -> Vec<Case> {
    if !channels.is_closable(Buffer::Rendezvous) {
        return Vec::new();
    }
    let mut cases = Vec::new();
    for order in [Order::Priority, Order::Random] {
        let name = format!("offer against a closed port, {order:?}");
        cases.push(Case::new(name, move || offer_race(channels, order)));
        let name = format!("close against a put, {order:?}");
        cases.push(Case::new(name, move || close_race(channels, order)));
    }
    cases
}

/// A port that closes while a value arrives at the other.
fn closing_cases(channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    for order in [Order::Priority, Order::Random] {
        for buffer in [Buffer::Rendezvous, Buffer::fixed(1)] {
            if !can_be_closed_by_another(channels, buffer) {
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
                    move || port_closes_at_an_offer(channels, buffer, take_first, order),
                ));
                cases.push(Case::new(
                    format!("the put's port closes, and a put, {what}"),
                    move || port_closes_at_a_put(channels, buffer, take_first, order),
                ));
            }
        }
    }
    cases
}

fn can_be_closed_by_another(channels: Channels, buffer: Buffer) -> bool {
    channels.is_closable(buffer)
        && channels
            .open::<u32>(buffer)
            .is_some_and(|(tx, _rx)| tx.another().is_some())
}

/// For channels that are closed by dropping the other half.
fn disconnected_cases(channels: Channels) -> Vec<Case> {
    channels
        .having(&[Buffer::Rendezvous, Buffer::fixed(1), Buffer::Unbounded])
        .map(|buffer| {
            Case::new(format!("half gone, {buffer}"), move || {
                half_gone(channels, buffer)
            })
        })
        .collect()
}

/// The last half of the other side leaves while the alts may already wait.
fn leaving_cases(channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in channels.having(&[Buffer::Rendezvous, Buffer::fixed(1), Buffer::fixed(2)]) {
        for leaving in [Half::Consumer, Half::Producer] {
            cases.push(Case::new(
                format!("the last {leaving:?} leaves, {buffer}"),
                move || half_leaves(channels, buffer, leaving),
            ));
        }
    }
    cases
}

#[derive(Clone, Copy, Debug)]
enum Half {
    Producer,
    Consumer,
}

/// A port without its other half is ready, and its value comes back.
fn half_gone(channels: Channels, buffer: Buffer) {
    let (tx, rx) = channels.open::<u32>(buffer).expect("asked before");
    let (gone_tx, orphan_rx) = channels.open::<u32>(buffer).expect("asked before");
    drop((gone_tx, rx));
    let clauses = [Clause::Take(&orphan_rx)];
    let stated = channels.clauses(&clauses);
    let mut alts = stated.prepare(Order::Priority);
    let chosen = alts.run(&mut [None], Patience::Forever);
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
    let chosen = channels
        .clauses(&clauses)
        .prepare(Order::Random)
        .run(&mut slots, Patience::Now);
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

/// Of two channels one is left by a half. The values of all puts come back, in whatever order they stand.
fn half_leaves(channels: Channels, buffer: Buffer, leaving: Half) {
    let (full, rx_full) = without_room(channels, buffer);
    let (tx_empty, empty) = channels.open::<u32>(buffer).expect("asked before");
    let order = [Order::Priority, Order::Random][world::choose(2)];
    let is_reversed = world::choose(2) == 1;
    let mut clauses = [Clause::Put(&full), Clause::Take(&empty), Clause::Put(&full)];
    let mut values = [Some(HELD), None, Some(HELD + 1)];
    if is_reversed {
        clauses.swap(0, 1);
        values.swap(0, 1);
    }
    let (mut leaves, mut stays) = ((Some(rx_full), None), (None, Some(tx_empty)));
    if let Half::Producer = leaving {
        std::mem::swap(&mut leaves, &mut stays);
    }
    let leaver = world::spawn(move || {
        world::perturb();
        drop(leaves);
    });
    let mut slots = values;
    let chosen = alts(channels, &clauses, order, &mut slots, Patience::Forever);
    let won = match (leaving, &chosen) {
        (
            Half::Consumer,
            Ok(Chosen::Put {
                clause,
                accepted: false,
            }),
        ) => values[*clause].is_some(),
        (
            Half::Producer,
            Ok(Chosen::Took {
                clause,
                value: None,
            }),
        ) => values[*clause].is_none(),
        _ => false,
    };
    holds!(
        won,
        "A1: the last {leaving:?} left a channel, and an alts of it answered {chosen:?}"
    );
    holds_eq!(
        slots,
        values,
        "A1: not all values of puts that did not happen came back"
    );
    world::join(leaver);
    drop(stays);
}

fn offer_race(channels: Channels, order: Order) {
    let (mut tx, rx) = channels
        .open::<u32>(Buffer::Rendezvous)
        .expect("asked before");
    let (closed, _keep) = channels
        .open::<u32>(Buffer::Rendezvous)
        .expect("asked before");
    closed.close();
    let offering = world::spawn(move || {
        let offered = offer(&mut tx, 1);
        (tx, offered)
    });
    let mut slots = [None, Some(2)];
    let clauses = [Clause::Take(&rx), Clause::Put(&closed)];
    let chosen = alts(channels, &clauses, order, &mut slots, Patience::Forever);
    let (_tx, offered) = world::join(offering);
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
fn close_race(channels: Channels, order: Order) {
    let (mut tx, mut rx) = channels
        .open::<u32>(Buffer::Rendezvous)
        .expect("asked before");
    let (closing, rx_closing) = channels
        .open::<u32>(Buffer::Rendezvous)
        .expect("asked before");
    let closer = world::spawn(move || close(&closing));
    let putter = world::spawn(move || {
        put(&mut tx, 1);
        tx
    });
    let clauses = [Clause::Take(&rx_closing), Clause::Take(&rx)];
    let chosen = alts(
        channels,
        &clauses,
        order,
        &mut [None, None],
        Patience::Forever,
    );
    match chosen {
        Ok(Chosen::Took {
            clause: 1,
            value: Some(1),
        }) => {
            is_empty(&mut rx, "A1: a value appeared twice");
        }
        Ok(Chosen::Took {
            clause: 0,
            value: None,
        }) => {
            holds_eq!(
                rx.take(),
                Ok(1),
                "A2: a value was lost to a port that was closed"
            );
        }
        other => violated!("A2: the alts answered {other:?}"),
    }
    assert!(world::join(closer));
    drop(world::join(putter));
}

/// What the put clause of [`closing_port`] holds.
const HELD: u32 = 2;

/// A channel without room for a put.
fn without_room(channels: Channels, buffer: Buffer) -> (Tx<u32>, Rx<u32>) {
    let (mut tx, rx) = channels.open::<u32>(buffer).expect("asked before");
    fill(&mut tx, buffer);
    (tx, rx)
}

/// Which of the two clauses won.
#[derive(Debug, PartialEq, Eq)]
enum Winner {
    /// The take of the open channel, with the value 1.
    Take,
    /// The put's closed port.
    ClosedPort,
    Nothing,
}

/// An alts over a take of `rx` and a put to `tx`, a channel without room that another thread closes. The value of the
/// put comes back in every case.
fn closing_port(
    channels: Channels,
    rx: &Rx<u32>,
    tx: &Tx<u32>,
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
    let chosen = alts(channels, &clauses, order, &mut slots, patience);
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
        Ok(Chosen::TimedOut) => Winner::Nothing,
        other => violated!("A2: the alts answered {other:?}"),
    }
}

/// No clause of the alts is left in the channel that was closed.
fn is_left_alone(mut rx: Rx<u32>) {
    while let Polled::Done(value) = rx.poll() {
        holds!(value != HELD, "A1: a clause that lost took effect later");
    }
}

/// A put's port is closed while the alts may already wait, and an offer arrives at the open port.
fn port_closes_at_an_offer(channels: Channels, buffer: Buffer, take_first: bool, order: Order) {
    let (mut tx, mut rx) = channels
        .open::<u32>(Buffer::Rendezvous)
        .expect("asked before");
    let (closing, rx_closing) = without_room(channels, buffer);
    let further = closing.another().expect("asked before");
    let closer = world::spawn(move || close(&further));
    let offering = world::spawn(move || (offer(&mut tx, 1), tx));
    // A put that waits when its channel closes keeps waiting, so the alts may never be served.
    let deadline = Deadline::after(world::now_nanos(), Duration::from_micros(50));
    let until = Patience::Until(deadline);
    let winner = closing_port(channels, &rx, &closing, take_first, order, until);
    assert!(world::join(closer));
    let (offered, _tx) = world::join(offering);
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
    is_empty(&mut rx, "A1: a value appeared twice");
    is_left_alone(rx_closing);
}

/// As [`port_closes_at_an_offer`], with a put, which waits until it is taken.
fn port_closes_at_a_put(channels: Channels, buffer: Buffer, take_first: bool, order: Order) {
    let (mut tx, mut rx) = channels
        .open::<u32>(Buffer::Rendezvous)
        .expect("asked before");
    let (closing, rx_closing) = without_room(channels, buffer);
    let further = closing.another().expect("asked before");
    let closer = world::spawn(move || close(&further));
    let putter = world::spawn(move || {
        put(&mut tx, 1);
        tx
    });
    let winner = closing_port(
        channels,
        &rx,
        &closing,
        take_first,
        order,
        Patience::Forever,
    );
    if winner != Winner::Take {
        holds_eq!(
            rx.take(),
            Ok(1),
            "A2: a value was lost to a port that was closed"
        );
    }
    assert!(world::join(closer));
    let _tx = world::join(putter);
    is_empty(&mut rx, "A1: a value appeared twice");
    is_left_alone(rx_closing);
}
