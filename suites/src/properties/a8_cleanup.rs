//! A8: losing clauses do not pile up: after thousands of lost clauses a channel still works, and nothing
//! that lost is ever served.

use std::time::Duration;

use flowmeter_harness::channel::{Alts, Buffer, Chosen, Clause, Offered, Order, Patience};
use flowmeter_harness::sync::{Deadline, World};

use super::acts::{alts, is_empty, put, take};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a8-cleanup",
    statement: "Clauses that lost are gone: none is served, and none counts against the bound on waiters.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const MIXED: Property = Property {
    name: "a8-cleanup-mixed",
    statement: "Clauses of different types that lost are gone: none is served, and none counts.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Alts, W: World>() -> Vec<Case> {
    if C::open::<u32>(Buffer::Rendezvous).is_none() {
        return Vec::new();
    }
    // More than may wait on one channel.
    let times = if W::name() == "std" { 1_100 } else { 2 };
    let waited = [Order::Priority, Order::Random].map(|order| {
        Case::new(format!("clauses that waited, {order:?}"), move || {
            waited_and_lost::<C, W>(order)
        })
    });
    [1, 2, 8, 128]
        .into_iter()
        .filter(|width| W::name() == "std" || *width <= 2)
        .map(|width| {
            Case::new(format!("{width} clauses abandoned"), move || {
                abandoned::<C, W>(width, times)
            })
        })
        .chain(waited)
        .chain([Case::new("a take behind a loser", behind_a_loser::<C, W>)])
        .collect()
}

/// Longer than it takes to enter 128 channels, on slow machines too: an alts whose deadline passes before that never waits,
/// and a clause that did not wait cannot be left behind.
const PATIENCE: Duration = Duration::from_micros(100);

fn abandoned<C: Alts, W: World>(width: usize, times: usize) {
    let mut channels: Vec<_> = (0..width)
        .map(|_| C::open::<u32>(Buffer::Rendezvous).expect("asked before"))
        .collect();
    {
        let clauses: Vec<Clause<'_, C, u32>> =
            channels.iter().map(|(_, rx)| Clause::Take(rx)).collect();
        let mut slots: Vec<Option<u32>> = vec![None; width];
        let mut alts = C::prepare(&clauses, Order::Random);
        for _ in 0..times {
            // It has to begin to wait before that: a bound on waiters is met by those that waited.
            let soon = Deadline::after(W::now_nanos(), PATIENCE);
            let chosen = C::run(&mut alts, &mut slots, Patience::Until(soon));
            holds_eq!(
                chosen,
                Ok(Chosen::TimedOut),
                "A9: an alts of nothing ready, with a deadline"
            );
        }
    }
    for (tx, rx) in &mut channels {
        holds_eq!(
            C::offer(tx, 1),
            Offered::WouldWait(1),
            "A8: a clause that lost was served"
        );
        is_empty::<C, _>(rx, "A8: a value that was refused stayed");
    }
}

/// An alts that waits in four channels until another thread puts to one of them: nobody is found in the
/// others.
fn waited_and_lost<C: Alts, W: World>(order: Order) {
    let open = || C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let (mut tx_before, mut rx_before) = open();
    let (mut tx, mut rx) = open();
    let (mut tx_after, mut rx_after) = open();
    let (tx_put, mut rx_put) = open();
    let times = if W::name() == "std" { 16 } else { 1 };
    let putter = W::spawn(move || {
        for value in 0..times {
            // Gives the alts time to wait.
            W::yield_now();
            put::<C, W, _>(&mut tx, value);
        }
        tx
    });
    for value in 0..times {
        let mut slots = [None, Some(99), None, None];
        let clauses = [
            Clause::Take(&rx_before),
            Clause::Put(&tx_put),
            Clause::Take(&rx),
            Clause::Take(&rx_after),
        ];
        let chosen = alts::<C, W, _>(&clauses, order, &mut slots, Patience::Forever);
        let took = Chosen::Took {
            clause: 2,
            value: Some(value),
        };
        holds_eq!(chosen, Ok(took), "A1: only one channel had a partner");
        holds_eq!(
            slots,
            [None, Some(99), None, None],
            "A1: a losing clause's value did not come back"
        );
        for (tx, rx) in [
            (&mut tx_before, &mut rx_before),
            (&mut tx_after, &mut rx_after),
        ] {
            holds_eq!(
                C::offer(tx, 1),
                Offered::WouldWait(1),
                "A8: a take that lost was served"
            );
            is_empty::<C, _>(rx, "A8: a value that was refused stayed");
        }
        is_empty::<C, _>(&mut rx_put, "A8: a put that lost was served");
    }
    let mut tx = W::join(putter);
    holds_eq!(
        C::offer(&mut tx, 1),
        Offered::WouldWait(1),
        "A8: a take that won waits on"
    );
    is_empty::<C, _>(&mut rx, "A1: a value was doubled");
}

/// A take that waits behind a clause of an alts which another channel has served: the next value is its own.
fn behind_a_loser<C: Alts, W: World>() {
    let open = || C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let (mut tx_lost, rx_lost) = open();
    let (mut tx_won, rx_won) = open();
    let Some(mut rx_behind) = C::another_rx(&rx_lost) else {
        return;
    };
    let taker = W::spawn(move || (take::<C, W, _>(&mut rx_behind), rx_behind));
    let putter = W::spawn(move || {
        put::<C, W, _>(&mut tx_won, 1);
        put::<C, W, _>(&mut tx_lost, 2);
        (tx_won, tx_lost)
    });
    let clauses = [Clause::Take(&rx_lost), Clause::Take(&rx_won)];
    let mut slots = [None, None];
    let chosen = alts::<C, W, _>(&clauses, Order::Priority, &mut slots, Patience::Forever);
    let took = Chosen::Took {
        clause: 1,
        value: Some(1),
    };
    holds_eq!(chosen, Ok(took), "A1: only one channel had a partner");
    holds_eq!(W::join(taker).0, 2, "C2: the take got something else");
    drop(W::join(putter));
}
