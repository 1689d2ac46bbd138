//! A9: an alts times out not before its deadline; where value and deadline race, one of them wins.

use std::time::Duration;

use flowmeter_harness::channel::{Alts, Buffer, Chosen, Clause, Offered, Order, Patience, Polled};
use flowmeter_harness::sync::{Deadline, World};

use super::acts::{alts, edge_after, having, is_empty, put, take, turns};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a9-timeout",
    statement: "Not before the deadline; where value and deadline race exactly one wins, the other has no effect.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const MIXED: Property = Property {
    name: "a9-timeout-mixed",
    statement: "Clauses of different types: where value and deadline race exactly one wins, the other has no effect.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const AWAITED: Property = Property {
    name: "a9-timeout-async",
    statement: "Awaited: where a value and the end of patience race exactly one wins, the other has no effect.",
    relied_on_by: Reliance::Nobody,
};

const SOON: Duration = Duration::from_micros(50);

pub(super) fn cases<C: Alts, W: World>() -> Vec<Case> {
    let mut cases = Vec::new();
    for buffer in having::<C>(&[Buffer::Rendezvous, Buffer::fixed(1)]) {
        cases.push(Case::new(format!("nobody comes, {buffer}"), move || {
            alone::<C, W>(buffer)
        }));
        cases.push(Case::new(
            format!("nobody takes either, {buffer}"),
            move || put_in_vain::<C, W>(buffer),
        ));
        cases.push(Case::new(format!("at the edge, {buffer}"), move || {
            edge::<C, W>(buffer)
        }));
    }
    cases
}

fn alone<C: Alts, W: World>(buffer: Buffer) {
    let (_tx, rx) = C::open::<u32>(buffer).expect("asked before");
    let deadline = Deadline::after(W::now_nanos(), SOON);
    let clauses = [Clause::Take(&rx)];
    let until = Patience::Until(deadline);
    let chosen = alts::<C, W, _>(&clauses, Order::Random, &mut [None], until);
    holds_eq!(chosen, Ok(Chosen::TimedOut), "A9: nobody came, and yet");
    let early = deadline.as_nanos().saturating_sub(W::now_nanos());
    holds_eq!(early, 0, "A9: timed out before the deadline");
}

/// A take and two puts, none of them able: the values are given back, and nothing of them stays.
fn put_in_vain<C: Alts, W: World>(buffer: Buffer) {
    let mut channels = [(); 2].map(|()| C::open::<u32>(buffer).expect("asked before"));
    let (mut tx_in, rx_in) = C::open::<u32>(buffer).expect("asked before");
    if buffer != Buffer::Rendezvous {
        for (tx, _) in &mut channels {
            assert_eq!(C::offer(tx, 0), Offered::Done);
        }
    }
    let deadline = Deadline::after(W::now_nanos(), SOON);
    let mut slots = [Some(1), None, Some(3)];
    let clauses = [
        Clause::Put(&channels[0].0),
        Clause::Take(&rx_in),
        Clause::Put(&channels[1].0),
    ];
    let until = Patience::Until(deadline);
    let chosen = alts::<C, W, _>(&clauses, Order::Random, &mut slots, until);
    holds_eq!(chosen, Ok(Chosen::TimedOut), "A9: nobody came, and yet");
    let early = deadline.as_nanos().saturating_sub(W::now_nanos());
    holds_eq!(early, 0, "A9: timed out before the deadline");
    holds_eq!(
        slots,
        [Some(1), None, Some(3)],
        "A9: the values of puts that timed out did not come back"
    );
    if buffer == Buffer::Rendezvous {
        holds_eq!(
            C::offer(&mut tx_in, 5),
            Offered::WouldWait(5),
            "A9: a take that timed out waits on"
        );
    }
    for (_, rx) in &mut channels {
        if buffer != Buffer::Rendezvous {
            assert_eq!(C::poll(rx), Polled::Done(0));
        }
        is_empty::<C, _>(rx, "A9: a put that timed out was delivered");
    }
}

/// Values come just as the alts gives up: each is taken once, in time or later.
fn edge<C: Alts, W: World>(buffer: Buffer) {
    let (mut tx, mut rx) = C::open::<usize>(buffer).expect("asked before");
    let putter = W::spawn(move || {
        (0..turns::<W>()).for_each(|value| put::<C, W, _>(&mut tx, value));
        tx
    });
    for turn in 0..turns::<W>() {
        W::perturb();
        let deadline = Deadline::after(W::now_nanos(), edge_after::<W>());
        let until = Patience::Until(deadline);
        let clauses = [Clause::Take(&rx)];
        let value = match alts::<C, W, _>(&clauses, Order::Random, &mut [None], until) {
            Ok(Chosen::Took {
                clause: 0,
                value: Some(value),
            }) => value,
            Ok(Chosen::TimedOut) => take::<C, W, _>(&mut rx),
            other => violated!("A9: the alts answered {other:?}"),
        };
        holds_eq!(value, turn, "A9: a value was lost to a deadline");
    }
    // Kept: without a producer the channel would be closed, which is not what is asked.
    let _tx = W::join(putter);
    is_empty::<C, _>(&mut rx, "A9: a value appeared twice");
}
