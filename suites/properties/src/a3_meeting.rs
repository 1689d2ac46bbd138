//! A3: two alts that meet on a rendezvous both commit, on matching clauses, or neither does. Crossed alts and rings
//! of alts always progress.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! alts [put a 0, put b 1]     alts [take b, take a]
//! answers (a, true)           answers (b, 1)            the two answers are no pair
//!
//! holds a, waits for b        holds b, waits for a      deadlock: neither answers
//! ```

use flowmeter_harness::channel::{Buffer, Chosen, Order, Patience};
use flowmeter_harness::sync::world;

use super::acts::{alts, is_empty, turns};
use super::mixed::in_turns;
use super::{Case, Cases, Property, Reliance};
use crate::design::{Channels, Clause};

pub(super) const PROPERTY: Property = Property {
    name: "a3-meeting",
    statement: "Alts that meet on rendezvous channels commit in pairs, and always progress.",
    relied_on_by: Reliance::Alts,
    cases: Cases::Channels(|design| design.alts().map(cases).unwrap_or_default()),
};

pub(super) const MIXED: Property = Property {
    name: "a3-meeting-mixed",
    statement: "Alts of different types that meet on rendezvous channels commit in pairs, and always progress.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| in_turns(design.channels.mixed(), cases)),
};

pub(super) const AWAITED: Property = Property {
    name: "a3-meeting-async",
    statement: "Alts that are awaited and meet on rendezvous channels commit in pairs, and always progress.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Channels(|design| in_turns(design.channels.mixed_and_awaited(), cases)),
};

fn cases(channels: Channels) -> Vec<Case> {
    if !has_what_it_takes(channels) {
        return Vec::new();
    }
    let ring = if world::name() == "loom" { 2 } else { 4 };
    vec![
        Case::new("alts [A, B] against alts [B, A]", move || crossed(channels)),
        Case::new(format!("a ring of {ring}"), move || ring_of(channels, ring)),
    ]
}

fn has_what_it_takes(channels: Channels) -> bool {
    channels
        .open::<u32>(Buffer::Rendezvous)
        .is_some_and(|(tx, rx)| tx.another().is_some() && rx.another().is_some())
}

/// One thread puts to A or B, the other takes from B or A.
fn crossed(channels: Channels) {
    let (tx_a, rx_a) = channels
        .open::<usize>(Buffer::Rendezvous)
        .expect("asked before");
    let (tx_b, rx_b) = channels
        .open::<usize>(Buffer::Rendezvous)
        .expect("asked before");
    let sender = world::spawn(move || {
        let clauses = [Clause::Put(&tx_a), Clause::Put(&tx_b)];
        let put = (0..turns()).map(|turn| {
            let values = [2 * turn, 2 * turn + 1];
            let mut slots = values.map(Some);
            match alts(
                channels,
                &clauses,
                Order::Priority,
                &mut slots,
                Patience::Forever,
            ) {
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
    let taken = (0..turns()).map(|_| {
        let mut nothing = [None, None];
        match alts(
            channels,
            &clauses,
            Order::Priority,
            &mut nothing,
            Patience::Forever,
        ) {
            Ok(Chosen::Took {
                clause,
                value: Some(value),
            }) if clause == 1 - value % 2 => value,
            other => violated!("A3: two alts met, and the one that takes answered {other:?}"),
        }
    });
    let taken: Vec<usize> = taken.collect();
    holds_eq!(
        world::join(sender),
        taken,
        "A3: a put and its take are not a pair"
    );
}

/// Every member takes from the left or puts to the right. In a ring of two or four, however the first pairs form, the
/// remaining members are adjacent, so every member finds a partner.
fn ring_of(channels: Channels, size: usize) {
    let ring: Vec<_> = (0..size)
        .map(|_| {
            channels
                .open::<usize>(Buffer::Rendezvous)
                .expect("asked before")
        })
        .collect();
    let members: Vec<_> = (0..size)
        .map(|member| {
            let left = ring[member].1.another().expect("asked before");
            let right = ring[(member + 1) % size].0.another().expect("asked before");
            world::spawn(move || {
                let mut slots = [None, Some(member)];
                let clauses = [Clause::Take(&left), Clause::Put(&right)];
                alts(
                    channels,
                    &clauses,
                    Order::Random,
                    &mut slots,
                    Patience::Forever,
                )
            })
        })
        .collect();
    let mut put = vec![false; size];
    let mut taken = vec![false; size];
    for (member, handle) in members.into_iter().enumerate() {
        match world::join(handle) {
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
    for (_tx, mut rx) in ring {
        is_empty(&mut rx, "A1: an alts that answered left a clause behind");
    }
}
