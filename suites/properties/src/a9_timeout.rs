//! A9: an alts times out no earlier than its deadline. Where a value and the deadline race, exactly one of them wins.
//!
//! The smallest history that violates it:
//!
//! ```text
//! alts [take a] until 50 µs    producer
//! waits
//!                              put(a, 0) -> true, at 50 µs
//! answers timed out
//! take(a) waits for ever: the value was lost to the deadline
//! ```

use std::time::Duration;

use flowmeter_harness::channel::{Buffer, Chosen, Offered, Order, Patience, Polled};
use flowmeter_harness::sync::{Deadline, world};

use super::acts::{alts, edge_after, fill, is_empty, put, take, turns};
use super::mixed::in_turns;
use super::{Case, Cases, Property, Reliance};
use crate::design::{Channels, Clause};

pub(super) const PROPERTY: Property = Property {
    name: "a9-timeout",
    statement: "A timeout never comes before its deadline; if it races with a value, exactly one wins, the other has no effect.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| design.alts().map(cases).unwrap_or_default()),
};

pub(super) const MIXED: Property = Property {
    name: "a9-timeout-mixed",
    statement: "Clauses of different types: if a value and the deadline race, exactly one wins, the other has no effect.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| in_turns(design.channels.mixed(), cases)),
};

pub(super) const AWAITED: Property = Property {
    name: "a9-timeout-async",
    statement: "Awaited alts: if a value and the deadline race, exactly one wins, the other has no effect.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| in_turns(design.channels.mixed_and_awaited(), cases)),
};

const SOON: Duration = Duration::from_micros(50);

fn cases(channels: Channels) -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in channels.having(&[Buffer::Rendezvous, Buffer::fixed(1)]) {
        cases.push(Case::new(format!("no value comes, {buffer}"), move || {
            alone(channels, buffer)
        }));
        cases.push(Case::new(
            format!("no take comes either, {buffer}"),
            move || put_in_vain(channels, buffer),
        ));
        cases.push(Case::new(
            format!("a deadline in the past, {buffer}"),
            move || passed(channels, buffer),
        ));
        cases.push(Case::new(format!("at the edge, {buffer}"), move || {
            edge(channels, buffer)
        }));
        // Loom has no room for more.
        if world::name() != "loom" {
            cases.push(Case::new(
                format!("a put at the edge, {buffer}"),
                move || put_edge(channels, buffer),
            ));
        }
    }
    cases
}

fn alone(channels: Channels, buffer: Buffer) {
    let (_tx, rx) = channels.open::<u32>(buffer).expect("asked before");
    let deadline = Deadline::after(world::now_nanos(), SOON);
    let clauses = [Clause::Take(&rx)];
    let until = Patience::Until(deadline);
    let chosen = alts(channels, &clauses, Order::Random, &mut [None], until);
    holds_eq!(chosen, Ok(Chosen::TimedOut), "A9: no partner came, and yet");
    let early = deadline.as_nanos().saturating_sub(world::now_nanos());
    holds_eq!(early, 0, "A9: timed out before the deadline");
}

/// A take and two puts, none of them able: the values come back, and no clause stays.
fn put_in_vain(channels: Channels, buffer: Buffer) {
    let mut opened = [(); 2].map(|()| channels.open::<u32>(buffer).expect("asked before"));
    let (mut tx_in, rx_in) = channels.open::<u32>(buffer).expect("asked before");
    if buffer != Buffer::Rendezvous {
        for (tx, _) in &mut opened {
            assert_eq!(tx.offer(0), Offered::Done);
        }
    }
    let deadline = Deadline::after(world::now_nanos(), SOON);
    let mut slots = [Some(1), None, Some(3)];
    let clauses = [
        Clause::Put(&opened[0].0),
        Clause::Take(&rx_in),
        Clause::Put(&opened[1].0),
    ];
    let until = Patience::Until(deadline);
    let chosen = alts(channels, &clauses, Order::Random, &mut slots, until);
    holds_eq!(chosen, Ok(Chosen::TimedOut), "A9: no partner came, and yet");
    let early = deadline.as_nanos().saturating_sub(world::now_nanos());
    holds_eq!(early, 0, "A9: timed out before the deadline");
    holds_eq!(
        slots,
        [Some(1), None, Some(3)],
        "A9: the values of puts that timed out did not come back"
    );
    if buffer == Buffer::Rendezvous {
        holds_eq!(
            tx_in.offer(5),
            Offered::WouldWait(5),
            "A9: a take that timed out waits on"
        );
    }
    for (_, rx) in &mut opened {
        if buffer != Buffer::Rendezvous {
            assert_eq!(rx.poll(), Polled::Done(0));
        }
        is_empty(rx, "A9: a put that timed out was delivered");
    }
}

/// Each clause is tried once: what is able is done, and otherwise nothing happened.
fn passed(channels: Channels, buffer: Buffer) {
    let (mut tx, rx) = channels.open::<u32>(buffer).expect("asked before");
    let (mut tx_full, mut rx_full) = channels.open::<u32>(buffer).expect("asked before");
    let last = fill(&mut tx_full, buffer);
    let now = world::now_nanos();
    let until = Patience::Until(Deadline::from_nanos(now.saturating_sub(1)));
    let mut slots = [Some(last), None];
    let clauses = [Clause::Put(&tx_full), Clause::Take(&rx)];
    let chosen = alts(channels, &clauses, Order::Random, &mut slots, until);
    holds_eq!(
        chosen,
        Ok(Chosen::TimedOut),
        "A9: no clause was able, and yet"
    );
    holds_eq!(
        slots,
        [Some(last), None],
        "A9: the value of a put that timed out did not come back"
    );
    if buffer == Buffer::Rendezvous {
        let refused = (tx.offer(7), tx_full.offer(8));
        let left = (Offered::WouldWait(7), Offered::WouldWait(8));
        holds_eq!(refused, left, "A9: an alts that timed out waits on");
        is_empty(&mut rx_full, "A9: a put that timed out was delivered");
        return;
    }
    assert_eq!(tx.offer(7), Offered::Done);
    let clauses = [Clause::Put(&tx_full), Clause::Take(&rx)];
    let chosen = alts(channels, &clauses, Order::Random, &mut slots, until);
    let took = Chosen::Took {
        clause: 1,
        value: Some(7),
    };
    holds_eq!(chosen, Ok(took), "A9: a value was there at once, and yet");
    (0..last).for_each(|value| holds_eq!(rx_full.poll(), Polled::Done(value), "A9: polled"));
    is_empty(&mut rx_full, "A9: a put that lost was delivered");
    let clauses = [Clause::Put(&tx_full), Clause::Take(&rx)];
    let chosen = alts(channels, &clauses, Order::Random, &mut slots, until);
    let accepted = Chosen::Put {
        clause: 0,
        accepted: true,
    };
    holds_eq!(chosen, Ok(accepted), "A9: there was room at once, and yet");
    holds_eq!(
        rx_full.poll(),
        Polled::Done(last),
        "A9: polled what the alts had put"
    );
}

/// Values arrive just as the alts gives up. Each is taken once, by the alts or by the take after it.
fn edge(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<usize>(buffer).expect("asked before");
    let putter = world::spawn(move || {
        (0..turns()).for_each(|value| put(&mut tx, value));
        tx
    });
    for turn in 0..turns() {
        world::perturb();
        let deadline = Deadline::after(world::now_nanos(), edge_after());
        let until = Patience::Until(deadline);
        let clauses = [Clause::Take(&rx)];
        let value = match alts(channels, &clauses, Order::Random, &mut [None], until) {
            Ok(Chosen::Took {
                clause: 0,
                value: Some(value),
            }) => value,
            Ok(Chosen::TimedOut) => take(&mut rx),
            other => violated!("A9: the alts answered {other:?}"),
        };
        holds_eq!(value, turn, "A9: a value was lost to a deadline");
    }
    // The half is kept: without a producer the channel would be closed, which is another property.
    let _tx = world::join(putter);
    is_empty(&mut rx, "A9: a value appeared twice");
}

/// A taker arrives just as the alts of a put gives up. The value is taken, or it comes back and is put again.
fn put_edge(channels: Channels, buffer: Buffer) {
    let (mut tx, mut rx) = channels.open::<u32>(buffer).expect("asked before");
    let last = fill(&mut tx, buffer);
    let taker = world::spawn(move || {
        let taken: Vec<u32> = (0..=last).map(|_| take(&mut rx)).collect();
        (taken, rx)
    });
    let deadline = Deadline::after(world::now_nanos(), edge_after());
    let (clauses, mut slots) = ([Clause::Put(&tx)], [Some(last)]);
    let until = Patience::Until(deadline);
    let chosen = alts(channels, &clauses, Order::Random, &mut slots, until);
    match (chosen, slots) {
        (
            Ok(Chosen::Put {
                clause: 0,
                accepted: true,
            }),
            [None],
        ) => {}
        (Ok(Chosen::TimedOut), [Some(value)]) => put(&mut tx, value),
        other => violated!("A9: the alts of a put answered {other:?}"),
    }
    let (taken, mut rx) = world::join(taker);
    holds_eq!(
        taken,
        (0..=last).collect::<Vec<_>>(),
        "A9: what was taken of puts at a deadline"
    );
    is_empty(&mut rx, "A9: a put that timed out was delivered");
}
