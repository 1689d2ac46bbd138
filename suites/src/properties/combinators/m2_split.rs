//! M2: a split sends each value one of two ways, and both ways close with the source.

use flowmeter_harness::channel::{Buffer, Channels, Polled};
use flowmeter_harness::combinator::Combinators;

use super::{
    Case, Property, Reliance, Stage, all, all_in_time, another, ended_source, fault, lying, open,
    put, room, source, take, with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m2-split",
    statement: "Each value goes one of two ways in order; both close with the source, and where either refuses.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("both ways", both_ways::<S>),
        Case::new("a way that is full", full::<S>),
        Case::new("a way that is closed", refused::<S>),
    ];
    if S::has_panics() {
        cases.push(Case::new("a question that panics", panicking::<S>));
    }
    cases
}

fn is_odd(value: &u32) -> bool {
    value % 2 == 1
}

fn both_ways<S: Stage>() {
    let seen = with_executor::<S, _>(|go| {
        let from = ended_source::<S>(&[1, 2, 3]);
        let (odd, even) = S::F::split::<u32>(go, from, is_odd, (room(1), room(1)));
        (all::<S, u32>(odd), all::<S, u32>(even))
    });
    holds_eq!(
        seen,
        (vec![1, 3], vec![2]),
        "M2: not each value on its way, in order"
    );
}

/// Nothing gets past a value that has no room.
fn full<S: Stage>() {
    let (accepted, seen) = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(1));
        let (mut odd, mut even) = S::F::split::<u32>(go, from, is_odd, (room(1), room(1)));
        // One has room, the next one waits, and the last one waits behind it.
        let accepted = [1, 3, 2].map(|value| put::<S>(&mut tx, value));
        let early = S::C::poll(&mut even);
        let late = [(); 2].map(|()| take::<S, u32>(&mut odd));
        (accepted, (early, late, take::<S, u32>(&mut even)))
    });
    let waits = Polled::WouldWait;
    holds_eq!(
        (accepted, seen),
        ([true; 3], (waits, [Ok(1), Ok(3)], Ok(2))),
        "M2: a value got past one that had no room"
    );
}

/// The other way does not stay open for nobody.
fn refused<S: Stage>() {
    let (other, (left, rest)) = with_executor::<S, _>(|go| {
        let (_open, from) = source::<S>(&[1, 2]);
        let mut left = another::<S>(&from);
        let is_first = |_: &u32| true;
        let buffers = (Buffer::Rendezvous, room(1));
        let (mut first, second) = S::F::split::<u32>(go, from, is_first, buffers);
        S::C::close_rx(&mut first);
        drop(first);
        (all::<S, u32>(second), lying::<S>(&mut left))
    });
    holds_eq!(
        (other, left, rest),
        (Vec::new(), vec![2], Polled::WouldWait),
        "M2: what went the other way than one that was closed, and what is left"
    );
}

fn panicking<S: Stage>() {
    let (seen, panics) = with_a_panic::<S, _>(|go| {
        let (_open, from) = source::<S>(&[1]);
        let buffers = (room(1), room(1));
        let (first, second) = S::F::split::<u32>(go, from, |_| fault(), buffers);
        (all_in_time::<S, u32>(first), all_in_time::<S, u32>(second))
    });
    let empty = Some(Vec::new());
    holds_eq!(
        (seen, panics),
        ((empty.clone(), empty), 1),
        "M2: what comes of a panic, which ends it and is counted"
    );
}
