//! A4: an alts never pairs with itself, whichever of its put and its take on one channel comes first.
//!
//! The smallest history that violates it:
//!
//! ```text
//! alts [put c 1, take c], c is a rendezvous
//! no other thread uses c
//! answers (put c, true), or (take c, 1): it has met its own clause
//! ```

use std::time::Duration;

use flowmeter_harness::channel::{Buffer, Chosen, Offered, Order, Patience};
use flowmeter_harness::sync::{Deadline, world};

use super::acts::{alts, is_empty, put, take};
use super::mixed::in_turns;
use super::{Case, Cases, Property, Reliance};
use crate::design::{Channels, Clause, Rx, Tx};

pub(super) const PROPERTY: Property = Property {
    name: "a4-no-self-pairing",
    statement: "An alts that puts to and takes from one rendezvous channel does not pair with itself: it waits for another.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| design.alts().map(cases).unwrap_or_default()),
};

pub(super) const MIXED: Property = Property {
    name: "a4-no-self-pairing-mixed",
    statement: "An alts of different types does not pair its own put with its own take either.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| in_turns(design.channels.mixed(), cases)),
};

fn cases(channels: Channels) -> Vec<Case> {
    let Some((tx, rx)) = channels.open::<u32>(Buffer::Rendezvous) else {
        return Vec::new();
    };
    let mut cases = vec![Case::new("default", move || alone(channels))];
    for put_first in [true, false] {
        let order = if put_first {
            "[put, take]"
        } else {
            "[take, put]"
        };
        cases.push(Case::new(format!("no partner comes, {order}"), move || {
            until_the_deadline(channels, put_first, false)
        }));
        if tx.another().is_none() {
            continue;
        }
        if world::name() != "std" {
            cases.push(Case::new(
                format!("waits until a partner comes, {order}"),
                move || waits_for_another_thread(channels, put_first),
            ));
        }
        cases.push(Case::new(format!("a put comes, {order}"), move || {
            a_partner_comes(channels, put_first)
        }));
        if rx.another().is_some() {
            cases.push(Case::new(
                format!("no partner comes, {order}, through clones"),
                move || until_the_deadline(channels, put_first, true),
            ));
            cases.push(Case::new(format!("a take comes, {order}"), move || {
                a_take_comes(channels, put_first)
            }));
        }
    }
    cases
}

fn alone(channels: Channels) {
    let (tx, rx) = channels
        .open::<u32>(Buffer::Rendezvous)
        .expect("asked before");
    for (clauses, mut slots) in [
        ([Clause::Put(&tx), Clause::Take(&rx)], [Some(1), None]),
        ([Clause::Take(&rx), Clause::Put(&tx)], [None, Some(1)]),
    ] {
        let chosen = alts(
            channels,
            &clauses,
            Order::Priority,
            &mut slots,
            Patience::Now,
        );
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

/// A put of 1 and a take on one channel, in either order. The second part of the answer is the put's slot afterwards.
fn both_sides(
    channels: Channels,
    tx: &Tx<u32>,
    rx: &Rx<u32>,
    put_first: bool,
    patience: Patience,
) -> (Chosen<u32>, Option<u32>) {
    let mut clauses = [Clause::Put(tx), Clause::Take(rx)];
    let mut slots = [Some(1), None];
    if !put_first {
        clauses.reverse();
        slots.reverse();
    }
    let chosen = alts(channels, &clauses, Order::Priority, &mut slots, patience);
    if !put_first {
        slots.reverse();
    }
    holds_eq!(slots[1], None, "A1: the slot of a take holds a value");
    let chosen = chosen.unwrap_or_else(|_| violated!("A7: these clauses are possible"));
    (chosen, slots[0])
}

/// With no other thread, an alts over both sides of one channel times out, also where the sides are clones.
fn until_the_deadline(channels: Channels, put_first: bool, through_clones: bool) {
    let (mut tx, mut rx) = channels
        .open::<u32>(Buffer::Rendezvous)
        .expect("asked before");
    let deadline = Deadline::after(world::now_nanos(), Duration::from_micros(50));
    let until = Patience::Until(deadline);
    let answer = if through_clones {
        let tx = tx.another().expect("asked before");
        let rx = rx.another().expect("asked before");
        both_sides(channels, &tx, &rx, put_first, until)
    } else {
        both_sides(channels, &tx, &rx, put_first, until)
    };
    holds_eq!(
        answer,
        (Chosen::TimedOut, Some(1)),
        "A4: an alts paired with itself"
    );
    holds_eq!(
        tx.offer(2),
        Offered::WouldWait(2),
        "A8: the take of an alts that timed out waits on"
    );
    is_empty(&mut rx, "A8: the put of an alts that timed out waits on");
}

/// An alts over both sides of one channel waits until every thread waits; then an offer is made to it.
fn waits_for_another_thread(channels: Channels, put_first: bool) {
    let (tx, rx) = channels
        .open::<u32>(Buffer::Rendezvous)
        .expect("asked before");
    let mut other = tx.another().expect("asked before");
    world::on_quiescence(move || {
        let offered = other.offer(5);
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
        both_sides(channels, &tx, &rx, put_first, Patience::Forever),
        (took, Some(1)),
        "A4: an alts did not wait for another thread"
    );
}

/// An alts over both sides of one channel pairs with another thread's put, and with nothing else.
fn a_partner_comes(channels: Channels, put_first: bool) {
    let (tx, rx) = channels
        .open::<u32>(Buffer::Rendezvous)
        .expect("asked before");
    let mut other = tx.another().expect("asked before");
    let putter = world::spawn(move || put(&mut other, 5));
    let took = Chosen::Took {
        clause: usize::from(put_first),
        value: Some(5),
    };
    holds_eq!(
        both_sides(channels, &tx, &rx, put_first, Patience::Forever),
        (took, Some(1)),
        "A4: an alts paired with itself, or kept a loser's value"
    );
    world::join(putter);
}

/// An alts over both sides of one channel pairs with another thread's take, and with nothing else.
fn a_take_comes(channels: Channels, put_first: bool) {
    let (tx, rx) = channels
        .open::<u32>(Buffer::Rendezvous)
        .expect("asked before");
    let mut other = rx.another().expect("asked before");
    let taker = world::spawn(move || take(&mut other));
    let put = Chosen::Put {
        clause: usize::from(!put_first),
        accepted: true,
    };
    holds_eq!(
        both_sides(channels, &tx, &rx, put_first, Patience::Forever),
        (put, None),
        "A4: an alts paired with itself"
    );
    holds_eq!(world::join(taker), 1, "C2: the take got something else");
}
