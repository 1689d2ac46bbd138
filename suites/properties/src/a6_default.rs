//! A6: an alts answers its default only when each clause was unable, and leaves no clause enqueued. With
//! `StrictDefault` all clauses were unable at one moment.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! thread 1                    thread 2
//! put(a, 1) -> true           put(b, 1) -> true
//! alts [take b] -> default    alts [take a] -> default
//! the later of the two looked after both puts
//!
//! alts [take b, take a]       another thread, a holds the ball
//! looks at b: empty
//!                             put(b, ball) -> true
//!                             take(a) -> ball
//! looks at a: empty
//! answers default             violates StrictDefault: a or b was never empty
//! ```

use flowmeter_harness::caps::Claim;
use flowmeter_harness::channel::{Buffer, Chosen, Offered, Order, Patience, Polled};
use flowmeter_harness::sync::world;

use super::acts::{alts, is_empty, put, take, turns};
use super::mixed::in_turns;
use super::{Case, Cases, Property, Reliance};
use crate::design::channels::Design;
use crate::design::{Channels, Clause, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "a6-default",
    statement: "An alts takes its default only when no clause is ready, and leaves nothing enqueued.",
    relied_on_by: Reliance::Alts,
    cases: Cases::Channels(|design| {
        let alts = design.alts();
        alts.map(|channels| cases(design, channels))
            .unwrap_or_default()
    }),
};

pub(super) const MIXED: Property = Property {
    name: "a6-default-mixed",
    statement: "An alts of different types takes its default only when no clause is ready, and leaves nothing enqueued.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| {
        in_turns(design.channels.mixed(), |mixed| cases(design, mixed))
    }),
};

/// `channels` are the design's own, or channels that stand for them.
fn cases(design: &Design, channels: Channels) -> Vec<Case> {
    let mut cases = loose_cases(channels);
    if design.claims(Claim::StrictDefault) {
        cases.extend(strict_cases(channels));
    }
    cases
}

fn loose_cases(channels: Channels) -> Vec<Case> {
    let mut cases: Vec<Case> = channels
        .having(&[Buffer::fixed(1), Buffer::fixed(2), Buffer::Unbounded])
        .map(|buffer| {
            Case::new(
                format!("each looks for the other's value, {buffer}"),
                move || crossing(channels, buffer),
            )
        })
        .collect();
    for buffer in channels.having(&[Buffer::Rendezvous, Buffer::fixed(1)]) {
        cases.push(Case::new(buffer.to_string(), move || {
            default(channels, buffer)
        }));
        // loom would explore every number of defaults before the partner waits.
        if world::name() == "loom" {
            continue;
        }
        for order in [Order::Priority, Order::Random] {
            let name = format!("not for ever beside a put, {buffer}, {order:?}");
            cases.push(Case::new(name, move || {
                meets_a_put(channels, buffer, order)
            }));
            let name = format!("not for ever beside a take, {buffer}, {order:?}");
            cases.push(Case::new(name, move || {
                meets_a_take(channels, buffer, order)
            }));
        }
    }
    cases
}

/// All clauses at one moment, while other threads change which are able.
fn strict_cases(channels: Channels) -> Vec<Case> {
    if channels.open::<()>(Buffer::fixed(1)).is_none() {
        return Vec::new();
    }
    let strict = |order| {
        Case::new(format!("strict, {order:?}"), move || {
            never_empty(channels, order)
        })
    };
    [Order::Priority, Order::Random].map(strict).to_vec()
}

/// A ball moves to and fro between two channels. It is put into one before it is taken from the other.
fn never_empty(channels: Channels, order: Order) {
    let (tx_here, rx_here) = channels.open::<()>(Buffer::fixed(1)).expect("asked before");
    let (tx_there, rx_there) = channels.open::<()>(Buffer::fixed(1)).expect("asked before");
    let mut halves = [(tx_here, rx_here), (tx_there, rx_there)];
    let further = |(tx, rx): &(Tx<()>, Rx<()>)| Some((tx.another()?, rx.another()?));
    let (Some(mut here), Some(mut there)) = (further(&halves[0]), further(&halves[1])) else {
        return;
    };
    assert_eq!(here.0.offer(()), Offered::Done);
    let player = world::spawn(move || {
        for _ in 0..turns() {
            put(&mut there.0, ());
            take(&mut here.1);
            std::mem::swap(&mut here, &mut there);
        }
        (here, there)
    });
    for _ in 0..turns() {
        let clauses = [Clause::Take(&halves[1].1), Clause::Take(&halves[0].1)];
        let mut slots = [None, None];
        let chosen = alts(channels, &clauses, order, &mut slots, Patience::Now);
        match chosen {
            Ok(Chosen::Took {
                clause,
                value: Some(()),
            }) => put(&mut halves[1 - clause].0, ()),
            other => {
                violated!("A6: at every moment one clause was able, and the answer was {other:?}")
            }
        }
    }
    drop(world::join(player));
}

/// Each of two threads puts to its own channel and looks into the other's. The thread that looks later looks after
/// both puts.
fn crossing(channels: Channels, buffer: Buffer) {
    let (tx_here, rx_here) = channels.open::<u32>(buffer).expect("asked before");
    let (tx_there, rx_there) = channels.open::<u32>(buffer).expect("asked before");
    let look = move |mut tx: Tx<u32>, rx: Rx<u32>| {
        put(&mut tx, 1);
        let clauses = [Clause::Take(&rx)];
        let chosen = alts(
            channels,
            &clauses,
            Order::Random,
            &mut [None],
            Patience::Now,
        );
        (chosen, tx, rx)
    };
    let other = world::spawn(move || look(tx_there, rx_here));
    let here = look(tx_here, rx_there);
    let there = world::join(other);
    holds!(
        [&here.0, &there.0]
            .iter()
            .any(|chosen| **chosen != Ok(Chosen::Default)),
        "A6: each of two threads put before it looked, and neither found the other's value"
    );
}

/// An alts with a default, run until a waiting put makes its clause ready.
fn meets_a_put(channels: Channels, buffer: Buffer, order: Order) {
    let (mut tx, rx) = channels.open::<u32>(buffer).expect("asked before");
    let (_silent, rx_silent) = channels.open::<u32>(buffer).expect("asked before");
    let putter = world::spawn(move || {
        put(&mut tx, 1);
        tx
    });
    {
        let clauses = [Clause::Take(&rx_silent), Clause::Take(&rx)];
        let stated = channels.clauses(&clauses);
        let mut alts = stated.prepare(order);
        let chosen = loop {
            world::perturb();
            match alts.run(&mut [None, None], Patience::Now) {
                Ok(Chosen::Default) => world::yield_now(),
                other => break other,
            }
        };
        let took = Chosen::Took {
            clause: 1,
            value: Some(1),
        };
        holds_eq!(chosen, Ok(took), "A6: one put came, and nothing else");
    }
    drop(world::join(putter));
}

/// An alts with a default, run until a waiting take makes its clause ready.
fn meets_a_take(channels: Channels, buffer: Buffer, order: Order) {
    let (tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let (_silent, rx_silent) = channels.open::<u32>(buffer).expect("asked before");
    let taker = world::spawn(move || (take(&mut rx), rx));
    {
        let clauses = [Clause::Take(&rx_silent), Clause::Put(&tx)];
        let stated = channels.clauses(&clauses);
        let mut alts = stated.prepare(order);
        let mut slots = [None, Some(1)];
        let chosen = loop {
            world::perturb();
            match alts.run(&mut slots, Patience::Now) {
                // A value that did not come back is missing from the next run.
                Ok(Chosen::Default) => world::yield_now(),
                other => break other,
            }
        };
        let put = Chosen::Put {
            clause: 1,
            accepted: true,
        };
        holds_eq!(chosen, Ok(put), "A6: one take came, and nothing else");
        holds_eq!(slots[1], None, "A1: the winner's value stayed in its slot");
    }
    holds_eq!(world::join(taker).0, 1, "C2: the take got something else");
}

fn default(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let (mut full, mut rx_full) = channels.open::<u32>(buffer).expect("asked before");
    if buffer != Buffer::Rendezvous {
        assert_eq!(full.offer(0), Offered::Done);
    }
    let mut slots = [None, Some(3)];
    let clauses = [Clause::Take(&rx), Clause::Put(&full)];
    let chosen = alts(channels, &clauses, Order::Random, &mut slots, Patience::Now);
    holds_eq!(
        chosen,
        Ok(Chosen::Default),
        "A6: a clause that was not able won"
    );
    holds_eq!(
        slots,
        [None, Some(3)],
        "A1: a losing clause's value did not come back"
    );
    // Neither clause is left waiting: an offer finds no take, a poll no put.
    if buffer == Buffer::Rendezvous {
        holds_eq!(
            tx.offer(1),
            Offered::WouldWait(1),
            "A6: the default left a take behind"
        );
    } else {
        assert_eq!(rx_full.poll(), Polled::Done(0));
        assert_eq!(tx.offer(1), Offered::Done);
        holds_eq!(
            rx.poll(),
            Polled::Done(1),
            "A6: the default left a take behind"
        );
    }
    is_empty(&mut rx_full, "A6: the default left a put behind");
    if buffer != Buffer::Rendezvous {
        let mut slots = [None, Some(3)];
        let clauses = [Clause::Take(&rx), Clause::Put(&full)];
        let chosen = alts(channels, &clauses, Order::Random, &mut slots, Patience::Now);
        let put = Chosen::Put {
            clause: 1,
            accepted: true,
        };
        holds_eq!(
            chosen,
            Ok(put),
            "A6: the default although a clause was able"
        );
    }
}
