//! A8: losing clauses do not pile up. After thousands of them a channel still works, and no losing clause is served.
//!
//! The smallest history that violates it:
//!
//! ```text
//! alts [take a, take b]     producer
//! waits in a and in b
//!                           put(b, 1) -> true
//! answers (b, 1)
//!                           offer(a, 2) -> done
//! the offer has served the take that lost: the 2 is gone
//! ```

use std::time::Duration;

use flowmeter_harness::channel::{Buffer, Chosen, Offered, Order, Patience};
use flowmeter_harness::sync::{Deadline, world};

use super::acts::{alts, is_empty, put, take};
use super::mixed::in_turns;
use super::{Case, Cases, Property, Reliance};
use crate::design::{Channels, Clause};

pub(super) const PROPERTY: Property = Property {
    name: "a8-cleanup",
    statement: "Losing clauses leave their channels: none is served later, and none counts against the bound on waiters.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| design.alts().map(cases).unwrap_or_default()),
};

pub(super) const MIXED: Property = Property {
    name: "a8-cleanup-mixed",
    statement: "Losing clauses of different types leave their channels: none is served later, and none counts as a waiter.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| in_turns(design.channels.mixed(), cases)),
};

fn cases(channels: Channels) -> Vec<Case> {
    if channels.open::<u32>(Buffer::Rendezvous).is_none() {
        return Vec::new();
    }
    // More than may wait on one channel.
    let times = if world::name() == "std" { 1_100 } else { 2 };
    let waited = [Order::Priority, Order::Random].map(|order| {
        Case::new(format!("clauses that waited, {order:?}"), move || {
            waited_and_lost(channels, order)
        })
    });
    [1, 2, 8, 128]
        .into_iter()
        .filter(|width| world::name() == "std" || *width <= 2)
        .map(|width| {
            Case::new(format!("{width} clauses abandoned"), move || {
                abandoned(channels, width, times)
            })
        })
        .chain(waited)
        .chain([Case::new("a take behind a loser", move || {
            behind_a_loser(channels)
        })])
        .collect()
}

/// Longer than entering 128 channels takes, also on slow machines. An alts with an earlier deadline never waits,
/// and a clause that did not wait cannot be left behind.
const PATIENCE: Duration = Duration::from_micros(100);

fn abandoned(channels: Channels, width: usize, times: usize) {
    let mut opened: Vec<_> = (0..width)
        .map(|_| {
            channels
                .open::<u32>(Buffer::Rendezvous)
                .expect("asked before")
        })
        .collect();
    {
        let clauses: Vec<Clause<'_, u32>> = opened.iter().map(|(_, rx)| Clause::Take(rx)).collect();
        let mut slots: Vec<Option<u32>> = vec![None; width];
        let stated = channels.clauses(&clauses);
        let mut alts = stated.prepare(Order::Random);
        for _ in 0..times {
            // The alts has to begin waiting before this: only waiting clauses count against the bound.
            let soon = Deadline::after(world::now_nanos(), PATIENCE);
            let chosen = alts.run(&mut slots, Patience::Until(soon));
            holds_eq!(
                chosen,
                Ok(Chosen::TimedOut),
                "A9: an alts of nothing ready, with a deadline"
            );
        }
    }
    for (tx, rx) in &mut opened {
        holds_eq!(
            tx.offer(1),
            Offered::WouldWait(1),
            "A8: a clause that lost was served"
        );
        is_empty(rx, "A8: a value that was refused stayed");
    }
}

/// An alts waits in four channels until another thread puts to one of them. No clause is left in the other three.
fn waited_and_lost(channels: Channels, order: Order) {
    let open = || {
        channels
            .open::<u32>(Buffer::Rendezvous)
            .expect("asked before")
    };
    let (mut tx_before, mut rx_before) = open();
    let (mut tx, mut rx) = open();
    let (mut tx_after, mut rx_after) = open();
    let (tx_put, mut rx_put) = open();
    let times = if world::name() == "std" { 16 } else { 1 };
    let putter = world::spawn(move || {
        for value in 0..times {
            // Gives the alts time to wait.
            world::yield_now();
            put(&mut tx, value);
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
        let chosen = alts(channels, &clauses, order, &mut slots, Patience::Forever);
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
                tx.offer(1),
                Offered::WouldWait(1),
                "A8: a take that lost was served"
            );
            is_empty(rx, "A8: a value that was refused stayed");
        }
        is_empty(&mut rx_put, "A8: a put that lost was served");
    }
    let mut tx = world::join(putter);
    holds_eq!(
        tx.offer(1),
        Offered::WouldWait(1),
        "A8: a take that won waits on"
    );
    is_empty(&mut rx, "A1: a value was doubled");
}

/// A take waits behind a clause of an alts that another channel has served. The next value belongs to that take.
fn behind_a_loser(channels: Channels) {
    let open = || {
        channels
            .open::<u32>(Buffer::Rendezvous)
            .expect("asked before")
    };
    let (mut tx_lost, rx_lost) = open();
    let (mut tx_won, rx_won) = open();
    let Some(mut rx_behind) = rx_lost.another() else {
        return;
    };
    let taker = world::spawn(move || (take(&mut rx_behind), rx_behind));
    let putter = world::spawn(move || {
        put(&mut tx_won, 1);
        put(&mut tx_lost, 2);
        (tx_won, tx_lost)
    });
    let clauses = [Clause::Take(&rx_lost), Clause::Take(&rx_won)];
    let mut slots = [None, None];
    let chosen = alts(
        channels,
        &clauses,
        Order::Priority,
        &mut slots,
        Patience::Forever,
    );
    let took = Chosen::Took {
        clause: 1,
        value: Some(1),
    };
    holds_eq!(chosen, Ok(took), "A1: only one channel had a partner");
    holds_eq!(world::join(taker).0, 2, "C2: the take got something else");
    drop(world::join(putter));
}
