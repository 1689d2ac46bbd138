//! A4: an alts never pairs with itself, in whichever order its put and its take stand.

use std::time::Duration;

use flowmeter_harness::channel::{Alts, Buffer, Chosen, Clause, Offered, Order, Patience};
use flowmeter_harness::sync::{Deadline, World};

use super::acts::{alts, is_empty, put, take};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a4-no-self-pairing",
    statement: "alts [put c v, take c] on a rendezvous channel waits for somebody else.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const MIXED: Property = Property {
    name: "a4-no-self-pairing-mixed",
    statement: "An alts of different types does not meet itself either.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Alts, W: World>() -> Vec<Case> {
    let Some((tx, rx)) = C::open::<u32>(Buffer::Rendezvous) else {
        return Vec::new();
    };
    let mut cases = vec![Case::new("default", alone::<C, W>)];
    for put_first in [true, false] {
        let order = if put_first {
            "[put, take]"
        } else {
            "[take, put]"
        };
        cases.push(Case::new(format!("nobody comes, {order}"), move || {
            until_the_deadline::<C, W>(put_first, false)
        }));
        if C::another_tx(&tx).is_none() {
            continue;
        }
        if W::name() != "std" {
            cases.push(Case::new(
                format!("waits until somebody comes, {order}"),
                move || waits_for_somebody_else::<C, W>(put_first),
            ));
        }
        cases.push(Case::new(format!("a put comes, {order}"), move || {
            somebody_comes::<C, W>(put_first)
        }));
        if C::another_rx(&rx).is_some() {
            cases.push(Case::new(
                format!("nobody comes, {order}, through clones"),
                move || until_the_deadline::<C, W>(put_first, true),
            ));
            cases.push(Case::new(format!("a take comes, {order}"), move || {
                a_take_comes::<C, W>(put_first)
            }));
        }
    }
    cases
}

fn alone<C: Alts, W: World>() {
    let (tx, rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    for (clauses, mut slots) in [
        ([Clause::Put(&tx), Clause::Take(&rx)], [Some(1), None]),
        ([Clause::Take(&rx), Clause::Put(&tx)], [None, Some(1)]),
    ] {
        let chosen = alts::<C, W, _>(&clauses, Order::Priority, &mut slots, Patience::Now);
        holds_eq!(
            chosen,
            Ok(Chosen::Default),
            "A4: an alts paired with itself"
        );
        holds!(
            slots.contains(&Some(1)),
            "A1: a losing clause's value did not come back"
        );
    }
}

/// A put of 1 and a take on one channel, in either order; the put's value is last in the answer.
fn both_sides<C: Alts, W: World>(
    tx: &C::Tx<u32>,
    rx: &C::Rx<u32>,
    put_first: bool,
    patience: Patience,
) -> (Chosen<u32>, Option<u32>) {
    let mut clauses = [Clause::Put(tx), Clause::Take(rx)];
    let mut slots = [Some(1), None];
    if !put_first {
        clauses.reverse();
        slots.reverse();
    }
    let chosen = alts::<C, W, _>(&clauses, Order::Priority, &mut slots, patience);
    if !put_first {
        slots.reverse();
    }
    holds_eq!(slots[1], None, "A1: the slot of a take holds a value");
    let chosen = chosen.unwrap_or_else(|_| violated!("A7: these clauses are possible"));
    (chosen, slots[0])
}

/// Waiting on both sides of one channel alone, it times out, also where it does not look like one channel.
fn until_the_deadline<C: Alts, W: World>(put_first: bool, through_clones: bool) {
    let (mut tx, mut rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let deadline = Deadline::after(W::now_nanos(), Duration::from_micros(50));
    let until = Patience::Until(deadline);
    let answer = if through_clones {
        let tx = C::another_tx(&tx).expect("asked before");
        let rx = C::another_rx(&rx).expect("asked before");
        both_sides::<C, W>(&tx, &rx, put_first, until)
    } else {
        both_sides::<C, W>(&tx, &rx, put_first, until)
    };
    holds_eq!(
        answer,
        (Chosen::TimedOut, Some(1)),
        "A4: an alts paired with itself"
    );
    holds_eq!(
        C::offer(&mut tx, 2),
        Offered::WouldWait(2),
        "A8: the take of an alts that timed out waits on"
    );
    is_empty::<C, _>(&mut rx, "A8: the put of an alts that timed out waits on");
}

/// Waiting on both sides of one channel, it waits on until everybody waits, and an offer comes.
fn waits_for_somebody_else<C: Alts, W: World>(put_first: bool) {
    let (tx, rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let mut other = C::another_tx(&tx).expect("asked before");
    W::on_quiescence(move || {
        let offered = C::offer(&mut other, 5);
        holds_eq!(
            offered,
            Offered::Done,
            "A4: an alts waits, and an offer found none"
        );
    });
    let took = Chosen::Took {
        clause: usize::from(put_first),
        value: Some(5),
    };
    holds_eq!(
        both_sides::<C, W>(&tx, &rx, put_first, Patience::Forever),
        (took, Some(1)),
        "A4: an alts did not wait for somebody else"
    );
}

/// Waiting on both sides of one channel, it is met by another thread's put, and only by that.
fn somebody_comes<C: Alts, W: World>(put_first: bool) {
    let (tx, rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let mut other = C::another_tx(&tx).expect("asked before");
    let putter = W::spawn(move || put::<C, W, _>(&mut other, 5));
    let took = Chosen::Took {
        clause: usize::from(put_first),
        value: Some(5),
    };
    holds_eq!(
        both_sides::<C, W>(&tx, &rx, put_first, Patience::Forever),
        (took, Some(1)),
        "A4: an alts paired with itself, or kept a loser's value"
    );
    W::join(putter);
}

/// Waiting on both sides of one channel, it is met by another thread's take, and only by that.
fn a_take_comes<C: Alts, W: World>(put_first: bool) {
    let (tx, rx) = C::open::<u32>(Buffer::Rendezvous).expect("asked before");
    let mut other = C::another_rx(&rx).expect("asked before");
    let taker = W::spawn(move || take::<C, W, _>(&mut other));
    let put = Chosen::Put {
        clause: usize::from(!put_first),
        accepted: true,
    };
    holds_eq!(
        both_sides::<C, W>(&tx, &rx, put_first, Patience::Forever),
        (put, None),
        "A4: an alts paired with itself"
    );
    holds_eq!(W::join(taker), 1, "C2: the take got something else");
}
