//! M9: everything that comes out of a channel is added to a collection, which is the one result.

use flowmeter_harness::channel::Channels;
use flowmeter_harness::combinator::Combinators;

use super::{
    Case, Property, Reliance, Stage, all, all_in_time, ended_source, fault, open, put, room,
    with_a_panic, with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m9-into",
    statement: "A channel is collected in order, behind what the collection had, and given once.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    let mut cases = vec![
        Case::new("some values", || collects::<S>(&[1, 2])),
        Case::new("no values", || collects::<S>(&[])),
        Case::new("a source that goes on", goes_on::<S>),
    ];
    if S::has_panics() {
        cases.push(Case::new("a collection that panics", panicking::<S>));
    }
    cases
}

fn collects<S: Stage>(values: &'static [u32]) {
    let seen = with_executor::<S, _>(|go| {
        let from = ended_source::<S>(values);
        all::<S, Vec<u32>>(S::F::collect::<u32, Vec<u32>>(go, vec![0], from))
    });
    let expected = [&[0], values].concat();
    holds_eq!(seen, [expected], "M9: not the one collection");
}

fn goes_on<S: Stage>() {
    let seen = with_executor::<S, _>(|go| {
        let (mut tx, from) = open::<S, u32>(room(1));
        let collected = S::F::collect::<u32, Vec<u32>>(go, Vec::new(), from);
        put::<S>(&mut tx, 0);
        put::<S>(&mut tx, 1);
        S::C::close(&tx);
        all::<S, Vec<u32>>(collected)
    });
    holds_eq!(seen, [[0, 1]], "M9: not the one collection");
}

/// Has no room for anything.
struct Faulty;

impl Extend<u32> for Faulty {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, _values: I) {
        fault()
    }
}

fn panicking<S: Stage>() {
    let (seen, panics) = with_a_panic::<S, _>(|go| {
        let from = ended_source::<S>(&[0]);
        let collected = all_in_time::<S, Faulty>(S::F::collect::<u32, Faulty>(go, Faulty, from));
        collected.map(|collected| collected.len())
    });
    holds_eq!(
        (seen, panics),
        (Some(0), 1),
        "M9: what comes of a panic, which ends it and is counted"
    );
}
