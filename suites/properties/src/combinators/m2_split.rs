//! M2: a split sends each value one of two ways, and both outputs close with the source.
//!
//! The smallest histories that violate it:
//!
//! ```text
//! from: 1, 2, closed; odd values go to a
//! a gets 1, b waits for ever     b was not closed
//!
//! a is full; from: 1, 3, 2
//! b gets 2 before a takes 1      the 2 passed the 3, which has no room
//! ```

use flowmeter_harness::channel::{Buffer, Polled};

use super::{
    Case, Cases, Combinators, Design, Property, Reliance, all, all_until, another, end,
    ended_source, fault, has_panics, lying, open, put, room, source, take, with_a_panic,
    with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m2-split",
    statement: "Each value goes one of two ways in order; both close with the source, and where either refuses.",
    relied_on_by: Reliance::Nothing,
    cases: Cases::Combinators(cases),
};

fn cases(design: &Design) -> Vec<Case> {
    let f = design.combinators;
    let mut cases = vec![
        Case::new("both ways", move || both_ways(f)),
        Case::new("a way that is full", move || full(f)),
        Case::new("a way that is closed", move || refused(f)),
    ];
    if has_panics() {
        cases.push(Case::new("a question that panics", move || panicking(f)));
    }
    cases
}

fn is_odd(value: &u32) -> bool {
    value % 2 == 1
}

fn both_ways(f: Combinators) {
    let seen = with_executor(f, |go| {
        let from = ended_source(f, &[1, 2, 3]);
        let (odd, even) = f.split(go, from, is_odd, (room(1), room(1)));
        (all(odd), all(even))
    });
    holds_eq!(
        seen,
        (vec![1, 3], vec![2]),
        "M2: not each value on its way, in order"
    );
}

/// No value passes a value that has no room.
fn full(f: Combinators) {
    let (accepted, seen) = with_executor(f, |go| {
        let (mut tx, from) = open::<u32>(f, room(1));
        let (mut odd, mut even) = f.split(go, from, is_odd, (room(1), room(1)));
        // One has room, the next one waits, and the last one waits behind it.
        let accepted = [1, 3, 2].map(|value| put(&mut tx, value));
        let early = even.poll();
        let late = [(); 2].map(|()| take(&mut odd));
        (accepted, (early, late, take(&mut even)))
    });
    let waits = Polled::WouldWait;
    holds_eq!(
        (accepted, seen),
        ([true; 3], (waits, [Ok(1), Ok(3)], Ok(2))),
        "M2: a value got past one that had no room"
    );
}

/// Where one output is closed, the other closes too.
fn refused(f: Combinators) {
    let (other, (left, rest)) = with_executor(f, |go| {
        let (_open, from) = source(f, &[1, 2]);
        let mut left = another(&from);
        let is_first = |_: &u32| true;
        let buffers = (Buffer::Rendezvous, room(1));
        let (mut first, second) = f.split(go, from, is_first, buffers);
        first.close();
        drop(first);
        (all(second), lying(&mut left))
    });
    holds_eq!(
        (other, left, rest),
        (Vec::new(), vec![2], Polled::WouldWait),
        "M2: what went the other way than one that was closed, and what is left"
    );
}

fn panicking(f: Combinators) {
    let (seen, panics) = with_a_panic(f, |go| {
        let (_open, from) = source(f, &[1]);
        let buffers = (room(1), room(1));
        let (first, second) = f.split(go, from, |_| fault(), buffers);
        let end = end();
        (all_until(end, first), all_until(end, second))
    });
    let empty = Some(Vec::new());
    holds_eq!(
        (seen, panics),
        ((empty.clone(), empty), 1),
        "M2: what comes of a panic, which ends it and is counted"
    );
}
