//! M3: a merge brings everything of all its sources, each in its order, and closes after the last of them.

use flowmeter_harness::channel::{Channels, Polled};
use flowmeter_harness::combinator::Combinators;

use super::{
    Case, Property, Reliance, Stage, all, ended_source, goes_on, open, put, room, take,
    with_executor,
};

pub(in super::super) const PROPERTY: Property = Property {
    name: "m3-merge",
    statement: "Everything of all sources arrives, each in its order; the output closes when the last has ended.",
    relied_on_by: Reliance::Nobody,
};

pub(super) fn cases<S: Stage>() -> Vec<Case> {
    vec![
        Case::new("two sources", two::<S>),
        Case::new("no sources", none::<S>),
        Case::new("a source that ends before the other", one_ends::<S>),
        Case::new("an output that is closed", || {
            let accepted = goes_on::<S, u32>(|go, from| S::F::merge(go, vec![from], room(1)));
            holds_eq!(
                accepted,
                [true; 3],
                "M3: a merge stopped taking where its output was closed"
            );
        }),
    ]
}

fn two<S: Stage>() {
    let seen = with_executor::<S, _>(|go| {
        let sources = [&[1, 2], &[11, 12]].map(|values| ended_source::<S>(values));
        all::<S, u32>(S::F::merge(go, sources.into(), room(1)))
    });
    let (first, second): (Vec<u32>, Vec<u32>) = seen.into_iter().partition(|value| *value < 10);
    holds_eq!(
        (first, second),
        (vec![1, 2], vec![11, 12]),
        "M3: not all of both sources, each in its order"
    );
}

/// An output that stays open is a deadlock here.
fn none<S: Stage>() {
    with_executor::<S, _>(|go| drop(all::<S, u32>(S::F::merge(go, Vec::new(), room(1)))));
}

/// What ends is let go, and the output stays open for the other.
fn one_ends<S: Stage>() {
    let (accepted, seen, open, rest) = with_executor::<S, _>(|go| {
        let (mut tx, goes_on) = open::<S, u32>(room(1));
        let sources = vec![ended_source::<S>(&[1]), goes_on];
        let mut merged = S::F::merge::<u32>(go, sources, room(1));
        let first = take::<S, u32>(&mut merged);
        let accepted = put::<S>(&mut tx, 11);
        let seen = [first, take::<S, u32>(&mut merged)];
        let open = S::C::poll(&mut merged);
        S::C::close(&tx);
        (accepted, seen, open, all::<S, u32>(merged))
    });
    holds_eq!(
        (accepted, seen, open, rest),
        (true, [Ok(1), Ok(11)], Polled::WouldWait, Vec::new()),
        "M3: not all of a source that goes on where another has ended, and the end with it"
    );
}
