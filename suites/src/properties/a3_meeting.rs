//! A3: two alts that meet on a rendezvous commit both, on matching clauses, or neither; crossed ones and
//! rings of them progress.

use flowmeter_harness::channel::{Alts, Buffer, Channels, Chosen, Clause, Order, Patience};
use flowmeter_harness::sync::World;

use super::acts::{alts, is_empty, turns};
use super::{Case, Property, Reliance};

pub(super) const PROPERTY: Property = Property {
    name: "a3-meeting",
    statement: "Alts that meet on rendezvous channels commit in pairs, and always progress.",
    relied_on_by: Reliance::Alts,
};

pub(super) const MIXED: Property = Property {
    name: "a3-meeting-mixed",
    statement: "Alts of different types that meet on rendezvous channels commit in pairs, and always progress.",
    relied_on_by: Reliance::Nobody,
};

pub(super) const AWAITED: Property = Property {
    name: "a3-meeting-async",
    statement: "Alts that are awaited and meet on rendezvous channels commit in pairs, and always progress.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<C: Alts, W: World>() -> Vec<Case> {
    if !has_what_it_takes::<C>() {
        return Vec::new();
    }
    let ring = if W::name() == "loom" { 2 } else { 4 };
    vec![
        Case::new("alts [A, B] against alts [B, A]", crossed::<C, W>),
        Case::new(format!("a ring of {ring}"), move || ring_of::<C, W>(ring)),
    ]
}

fn has_what_it_takes<C: Channels>() -> bool {
    C::open::<u32>(Buffer::Rendezvous)
        .is_some_and(|(tx, rx)| C::another_tx(&tx).is_some() && C::another_rx(&rx).is_some())
}

/// One puts to A or B, the other takes from B or A.
fn crossed<C: Alts, W: World>() {
    let (tx_a, rx_a) = C::open::<usize>(Buffer::Rendezvous).expect("asked before");
    let (tx_b, rx_b) = C::open::<usize>(Buffer::Rendezvous).expect("asked before");
    let sender = W::spawn(move || {
        let clauses = [Clause::Put(&tx_a), Clause::Put(&tx_b)];
        let put = (0..turns::<W>()).map(|turn| {
            let values = [2 * turn, 2 * turn + 1];
            let mut slots = values.map(Some);
            match alts::<C, W, _>(&clauses, Order::Priority, &mut slots, Patience::Forever) {
                Ok(Chosen::Put {
                    clause,
                    accepted: true,
                }) => {
                    let mut left = values.map(Some);
                    left[clause] = None;
                    holds_eq!(slots, left, "A1: a losing clause's value did not come back");
                    values[clause]
                }
                other => violated!("A3: two alts met, and the one that puts answered {other:?}"),
            }
        });
        put.collect::<Vec<usize>>()
    });
    let clauses = [Clause::Take(&rx_b), Clause::Take(&rx_a)];
    let taken = (0..turns::<W>()).map(|_| {
        let mut nothing = [None, None];
        match alts::<C, W, _>(&clauses, Order::Priority, &mut nothing, Patience::Forever) {
            Ok(Chosen::Took {
                clause,
                value: Some(value),
            }) if clause == 1 - value % 2 => value,
            other => violated!("A3: two alts met, and the one that takes answered {other:?}"),
        }
    });
    let taken: Vec<usize> = taken.collect();
    holds_eq!(
        W::join(sender),
        taken,
        "A3: a put and its take are not a pair"
    );
}

/// Everybody takes from the left or puts to the right. However the first pairs are made, in a ring of two
/// or four the others are neighbours too, so all must find a partner.
fn ring_of<C: Alts, W: World>(size: usize) {
    let channels: Vec<_> = (0..size)
        .map(|_| C::open::<usize>(Buffer::Rendezvous).expect("asked before"))
        .collect();
    let members: Vec<_> = (0..size)
        .map(|member| {
            let left = C::another_rx(&channels[member].1).expect("asked before");
            let right = C::another_tx(&channels[(member + 1) % size].0).expect("asked before");
            W::spawn(move || {
                let mut slots = [None, Some(member)];
                let clauses = [Clause::Take(&left), Clause::Put(&right)];
                alts::<C, W, _>(&clauses, Order::Random, &mut slots, Patience::Forever)
            })
        })
        .collect();
    let mut put = vec![false; size];
    let mut taken = vec![false; size];
    for (member, handle) in members.into_iter().enumerate() {
        match W::join(handle) {
            Ok(Chosen::Put {
                clause: 1,
                accepted: true,
            }) => put[member] = true,
            Ok(Chosen::Took {
                clause: 0,
                value: Some(from),
            }) => taken[from] = true,
            other => violated!("A3: a member of a ring answered {other:?}"),
        }
    }
    holds_eq!(put, taken, "A3: a put and its take are not a pair");
    for (_tx, mut rx) in channels {
        is_empty::<C, _>(&mut rx, "A1: an alts that answered left a clause behind");
    }
}
