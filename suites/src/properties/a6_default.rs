//! A6: the default is taken only when each clause was unable, and leaves nothing enqueued. With `StrictDefault` all of
//! them were unable at one moment.

use flowmeter_harness::channel::{Alts, Buffer, Chosen, Clause, Offered, Order, Patience, Polled};
use flowmeter_harness::sync::World;

use super::acts::{alts, having, is_empty, put, take, turns};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a6-default",
    statement: "Default only when no clause is able, and nothing stays enqueued.",
    relied_on_by: Reliance::Alts,
};

pub(super) const MIXED: Property = Property {
    name: "a6-default-mixed",
    statement: "Default only when no clause of any type is able, and nothing stays enqueued.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Alts, W: World>() -> Vec<Case> {
    let mut cases: Vec<Case> =
        having::<C>(&[Buffer::fixed(1), Buffer::fixed(2), Buffer::Unbounded])
            .map(|buffer| {
                Case::new(
                    format!("each looks for the other's value, {buffer}"),
                    move || crossing::<C, W>(buffer),
                )
            })
            .collect();
    for buffer in having::<C>(&[Buffer::Rendezvous, Buffer::fixed(1)]) {
        cases.push(Case::new(buffer.to_string(), move || {
            default::<C, W>(buffer)
        }));
        // loom would follow every number of defaults before the partner waits.
        if W::name() == "loom" {
            continue;
        }
        for order in [Order::Priority, Order::Random] {
            let name = format!("not for ever beside a put, {buffer}, {order:?}");
            cases.push(Case::new(name, move || meets_a_put::<C, W>(buffer, order)));
            let name = format!("not for ever beside a take, {buffer}, {order:?}");
            cases.push(Case::new(name, move || meets_a_take::<C, W>(buffer, order)));
        }
    }
    cases
}

/// What is true at one moment, and looked at while others change it.
pub(super) fn strict_cases<C: Alts, W: World>() -> Vec<Case> {
    if C::open::<()>(Buffer::fixed(1)).is_none() {
        return Vec::new();
    }
    let strict = |order| {
        Case::new(format!("strict, {order:?}"), move || {
            never_empty::<C, W>(order)
        })
    };
    [Order::Priority, Order::Random].map(strict).to_vec()
}

/// A ball goes to and fro between two channels, and is in one of them before it leaves the other.
fn never_empty<C: Alts, W: World>(order: Order) {
    let (tx_here, rx_here) = C::open::<()>(Buffer::fixed(1)).expect("asked before");
    let (tx_there, rx_there) = C::open::<()>(Buffer::fixed(1)).expect("asked before");
    let mut halves = [(tx_here, rx_here), (tx_there, rx_there)];
    let further =
        |(tx, rx): &(C::Tx<()>, C::Rx<()>)| Some((C::another_tx(tx)?, C::another_rx(rx)?));
    let (Some(mut here), Some(mut there)) = (further(&halves[0]), further(&halves[1])) else {
        return;
    };
    assert_eq!(C::offer(&mut here.0, ()), Offered::Done);
    let player = W::spawn(move || {
        for _ in 0..turns::<W>() {
            put::<C, W, _>(&mut there.0, ());
            take::<C, W, _>(&mut here.1);
            std::mem::swap(&mut here, &mut there);
        }
        (here, there)
    });
    for _ in 0..turns::<W>() {
        let clauses = [Clause::Take(&halves[1].1), Clause::Take(&halves[0].1)];
        let mut slots = [None, None];
        let chosen = alts::<C, W, _>(&clauses, order, &mut slots, Patience::Now);
        match chosen {
            Ok(Chosen::Took {
                clause,
                value: Some(()),
            }) => put::<C, W, _>(&mut halves[1 - clause].0, ()),
            other => {
                violated!("A6: at every moment one clause was able, and the answer was {other:?}")
            }
        }
    }
    drop(W::join(player));
}

/// Two threads put, each to its channel, and look into the other's: whoever looks later comes after both puts.
fn crossing<C: Alts, W: World>(buffer: Buffer) {
    let (tx_here, rx_here) = C::open::<u32>(buffer).expect("asked before");
    let (tx_there, rx_there) = C::open::<u32>(buffer).expect("asked before");
    let look = |mut tx: C::Tx<u32>, rx: C::Rx<u32>| {
        put::<C, W, _>(&mut tx, 1);
        let clauses = [Clause::Take(&rx)];
        let chosen = alts::<C, W, _>(&clauses, Order::Random, &mut [None], Patience::Now);
        (chosen, tx, rx)
    };
    let other = W::spawn(move || look(tx_there, rx_here));
    let here = look(tx_here, rx_there);
    let there = W::join(other);
    holds!(
        [&here.0, &there.0]
            .iter()
            .any(|chosen| **chosen != Ok(Chosen::Default)),
        "A6: each of two threads put before it looked, and neither found the other's value"
    );
}

/// An alts without patience, which loses only until a put waits for it.
fn meets_a_put<C: Alts, W: World>(buffer: Buffer, order: Order) {
    let (mut tx, rx) = C::open::<u32>(buffer).expect("asked before");
    let (_silent, rx_silent) = C::open::<u32>(buffer).expect("asked before");
    let putter = W::spawn(move || {
        put::<C, W, _>(&mut tx, 1);
        tx
    });
    {
        let clauses = [Clause::Take(&rx_silent), Clause::Take(&rx)];
        let mut alts = C::prepare(&clauses, order);
        let chosen = loop {
            W::perturb();
            match C::run(&mut alts, &mut [None, None], Patience::Now) {
                Ok(Chosen::Default) => W::yield_now(),
                other => break other,
            }
        };
        let took = Chosen::Took {
            clause: 1,
            value: Some(1),
        };
        holds_eq!(chosen, Ok(took), "A6: one put came, and nothing else");
    }
    drop(W::join(putter));
}

/// An alts without patience, which loses only until a take waits for it.
fn meets_a_take<C: Alts, W: World>(buffer: Buffer, order: Order) {
    let (tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let (_silent, rx_silent) = C::open::<u32>(buffer).expect("asked before");
    let taker = W::spawn(move || (take::<C, W, _>(&mut rx), rx));
    {
        let clauses = [Clause::Take(&rx_silent), Clause::Put(&tx)];
        let mut alts = C::prepare(&clauses, order);
        let mut slots = [None, Some(1)];
        let chosen = loop {
            W::perturb();
            match C::run(&mut alts, &mut slots, Patience::Now) {
                // A value that does not come back is missing from the next one.
                Ok(Chosen::Default) => W::yield_now(),
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
    holds_eq!(W::join(taker).0, 1, "C2: the take got something else");
}

fn default<C: Alts, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<u32>(buffer).expect("asked before");
    let (mut full, mut rx_full) = C::open::<u32>(buffer).expect("asked before");
    if buffer != Buffer::Rendezvous {
        assert_eq!(C::offer(&mut full, 0), Offered::Done);
    }
    let mut slots = [None, Some(3)];
    let clauses = [Clause::Take(&rx), Clause::Put(&full)];
    let chosen = alts::<C, W, _>(&clauses, Order::Random, &mut slots, Patience::Now);
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
    // Nothing waits on either: an offer finds no take, a poll no put.
    if buffer == Buffer::Rendezvous {
        holds_eq!(
            C::offer(&mut tx, 1),
            Offered::WouldWait(1),
            "A6: the default left a take behind"
        );
    } else {
        assert_eq!(C::poll(&mut rx_full), Polled::Done(0));
        assert_eq!(C::offer(&mut tx, 1), Offered::Done);
        holds_eq!(
            C::poll(&mut rx),
            Polled::Done(1),
            "A6: the default left a take behind"
        );
    }
    is_empty::<C, _>(&mut rx_full, "A6: the default left a put behind");
    if buffer != Buffer::Rendezvous {
        let mut slots = [None, Some(3)];
        let clauses = [Clause::Take(&rx), Clause::Put(&full)];
        let chosen = alts::<C, W, _>(&clauses, Order::Random, &mut slots, Patience::Now);
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
